// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/state.h"
#include "model/cluster_view.h"

namespace berth::core {

/// Of a compute that is no cluster there is nothing to see.
model::ClusterView view_of(const State& state, const model::Compute& compute);
model::NodeState state_of(const State& state, const model::Node& node);

}  // namespace berth::core
