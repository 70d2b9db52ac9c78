// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/process/cgroup.h"
#include "node/files/job_user.h"
#include "node/runtime/runtime.h"

namespace berth::node {

/// A command and what it is connected to.
struct CommandSpec {
  JobCommand command{};
  std::string log{};                     ///< The file that stdout and stderr go to.
  std::vector<std::string> rank_logs{};  ///< Of what MPI starts; the first is `log`.
  int output = -1;                       ///< What stdout and stderr are.
  std::optional<JobUser> user{};         ///< None: as we are.
};

/// Starts the command, as the runtime has wrapped it, in a process group of its own and moves it
/// into the control group, with no descriptor of ours and default signals. By vfork, so only for a
/// process without threads that handles no signals (a shim).
Result<pid_t> start_command(const CommandSpec& spec, const Invocation& invocation,
                            const io::Cgroup& cgroup);

/// Becomes what the runtime has made of a command, here and now. Returns only when that fails.
Error become(const Invocation& invocation);

}  // namespace berth::node
