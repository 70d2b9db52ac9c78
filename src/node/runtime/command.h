// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/cgroup.h"
#include "node/files/job_user.h"

namespace berth::node {

struct CommandSpec {
  std::string command{};  ///< For bash, or sh where there is no bash.
  std::string working_directory{};
  std::map<std::string, std::string> environment{};  ///< The whole of it.
  std::string log{};                                 ///< The file that stdout and stderr go to.
  std::vector<std::string> rank_logs{};              ///< Of what MPI starts; the first is `log`.
  int output = -1;                                   ///< What stdout and stderr are.
  std::optional<JobUser> user{};                     ///< None: as we are.
};

/// Starts the command in a process group of its own and moves it into the control group, with no
/// descriptor of ours and default signals. By vfork, so only for a process without threads that
/// handles no signals (a shim).
Result<pid_t> start_command(const CommandSpec& spec, const io::Cgroup& cgroup);

/// bash, or sh where there is no bash.
const char* find_shell();

}  // namespace berth::node
