// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "node/agent.h"
#include "node/remote.h"

namespace berth::node {

/// Reads `--name ID --home DIR [--slots N] [--work-root DIR]`.
Result<AgentOptions> parse_node_arguments(std::span<const std::string> arguments);

/// Reads `--name ID --server URL --ca FILE --token-file FILE [--slots N] [--work-directory DIR]`.
Result<RemoteArguments> parse_remote_arguments(std::span<const std::string> arguments);

/// `berth node …`, without the first two words. Returns the exit status: 0 done, 1 failed, 2 wrong
/// usage. Call it before the process has threads.
int node_main(std::span<const std::string> arguments);

}  // namespace berth::node
