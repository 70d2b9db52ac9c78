// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/state.h"

namespace berth::core {

/// What to do next, from one look at the state. Placement, growth and shrinking come out of the
/// same pass, so they cannot disagree.
struct Plan {
  std::vector<JobPlaced> place{};      ///< Priority, then age.
  std::vector<model::Node> request{};  ///< Nodes that must be started for what waits.
};

/// Pure: equal arguments give equal plans. Costs what there is to do, not how many jobs wait.
/// `local_slots` is how many jobs this machine takes at once.
Plan plan(const State& state, int local_slots, WallTime now);

/// Why a job does not run now, in words that follow its name: "waits for …"; empty when it runs.
std::string explain(const State& state, const model::Job& job, int local_slots);

}  // namespace berth::core
