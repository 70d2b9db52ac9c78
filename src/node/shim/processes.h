// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "node/files/attempt_files.h"
#include "node/runtime/command.h"

namespace berth::node {

/// What a shim is to start for a launch now: the command, once for each of its processes, or what
/// lets MPI start them. `environment` is what all of them get.
Result<std::vector<CommandSpec>> commands_of(const AttemptPaths& paths,
                                             const wire::node::Launch& launch,
                                             const std::map<std::string, std::string>& environment);

}  // namespace berth::node
