// SPDX-License-Identifier: Apache-2.0
// The derived parts of the State, kept in step by the events. Only core/state*.cc include this.
#pragma once

#include "core/state.h"

namespace berth::core {

/// Whoever changes a job or a node takes it out of the indexes before, and puts it in after.
void index(State& state, const model::Job& job);
void unindex(State& state, const model::Job& job);
void index(State& state, const model::Node& node);
void unindex(State& state, const model::Node& node);

/// Counts the demand of a target again, after its cluster's limits have changed.
void recount_demand(State& state, const model::TargetId& target);

}  // namespace berth::core
