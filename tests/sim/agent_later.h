// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/agent.h"

namespace berth::sim {

/// Unless the agent is gone by then.
template <typename Work>
void Agent::later(Duration delay, Work work) {
  stage_.time.after(delay, [alive = std::weak_ptr<int>(alive_), work = std::move(work)]() mutable {
    if (!alive.expired()) work();
  });
}

}  // namespace berth::sim
