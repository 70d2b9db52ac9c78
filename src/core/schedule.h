// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/state.h"

namespace berth::core {

/// What to do next, from one look at the state. Placement, growth, shrinking and making room come
/// out of the same pass and the same counts, so they cannot disagree.
struct Plan {
  std::vector<model::NodeId> recall{};        ///< Leaving nodes that are needed after all.
  std::vector<JobPlaced> place{};             ///< Priority, then age; gangs whole or not at all.
  std::vector<EngineRunStarted> hand_over{};  ///< For engines; fences are not given yet.
  std::vector<model::Node> request{};       ///< To be started. Ids and sequences are not given yet.
  std::vector<model::NodeId> release{};     ///< To be told to leave.
  std::vector<model::NodeId> preempt{};     ///< To be taken for a dedicated cluster.
  std::vector<model::ComputeKey> remove{};  ///< Deleted, and their last node is gone.
};

/// Since when nodes that are ready have held nothing.
using IdleSince = std::map<model::NodeId, TimePoint>;

/// Pure: equal arguments give equal plans. Costs what there is to do, not how many jobs wait or how
/// many nodes there are. A small job may pass a gang that cannot start yet, but takes none of the
/// nodes that the gang will have.
Plan plan(const State& state, WallTime now);

/// Nodes that nobody needs.
struct Surplus {
  std::vector<model::NodeId> nodes{};  ///< Their idle time is over.
  std::optional<TimePoint> next{};     ///< When that of the next one is, if nothing changes.
};
/// Only time makes this differ: it is to be called again at `next`, or now and then. Looks at every
/// vacant node. `machine_idle` is for those that are no cluster's.
Surplus surplus(const State& state, const IdleSince& idle_since, Duration machine_idle,
                TimePoint now);

/// How many nodes a cluster is to have: those its jobs hold and wait for, between its minimum and
/// its maximum.
int wanted_nodes(const State& state, const model::Compute& compute, const model::Cluster& cluster);

/// Whether the node will be there for as long as the job may run.
bool outlives(const model::Node& node, const model::Job& job, WallTime now);

/// Why a job does not run now, in words that follow its name: "needs 2 nodes of …"; empty when it
/// runs. Says what would let it start.
std::string explain(const State& state, const model::Job& job);

}  // namespace berth::core
