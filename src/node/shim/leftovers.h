// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "node/files/attempt_files.h"
#include "node/runtime/runtime.h"

namespace berth::node {

/// What the control group of an attempt with limits is called.
std::string group_name(const AttemptPaths& paths);

/// Ends what a supervisor that died left running, removes its control groups, and cleans up after
/// the attempt's runtime. Blocks.
void kill_leftovers(const AttemptPaths& paths, RuntimeOf runtime_of = node::runtime_of);

/// `berth node --sweep DIR`: ends and removes every attempt that lies below a work root. For nodes
/// that nobody knows any more and that have no agent; Conflict when there is one. Blocks.
Status sweep(const std::string& work_root);

}  // namespace berth::node
