// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "node/runtime/runtime.h"

namespace berth::node {

struct ShimSettings {
  Duration grace = std::chrono::seconds(10);  ///< Between SIGTERM and SIGKILL.
  RuntimeOf runtime_of = node::runtime_of;
};

/// Supervises attempts, one after the other, in a process of its own that outlives the agent:
/// starts the command of launch.json, holds it to its time and memory, and writes exit.json when
/// its process tree is gone. SIGTERM means: stop it. A second shim of the same attempt does
/// nothing, so launching twice runs the command once.
///
/// The socket brings the directory of the next attempt and is told, by one byte, that it is over.
/// When the agent's end is closed the shim finishes what it has begun and ends. Call with SIGTERM
/// and SIGCHLD blocked and no other thread.
[[noreturn]] void run_shim(int socket, const ShimSettings& settings);

}  // namespace berth::node
