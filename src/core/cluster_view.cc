// SPDX-License-Identifier: Apache-2.0
#include "core/cluster_view.h"

#include "core/schedule.h"

namespace berth::core {
namespace {

using model::NodeState;
using model::NodeStatus;

/// A node that could not be started so often in a row is shown as unusable; it is tried on.
constexpr int kFailuresToUnusable = 3;

bool is_there(NodeState state) {
  return state == NodeState::Idle || state == NodeState::Running || state == NodeState::Leaving ||
         state == NodeState::Preempted;
}

std::string job_on(const State& state, const model::NodeId& node) {
  const auto jobs = jobs_on(state, node);
  return jobs.empty() ? std::string() : jobs.front()->key.name;
}

void count(model::ClusterView& view, NodeState state) {
  switch (state) {
    case NodeState::Idle: ++view.idle; break;
    case NodeState::Running: ++view.running; break;
    case NodeState::Preparing: ++view.preparing; break;
    case NodeState::Unusable: ++view.unusable; break;
    case NodeState::Leaving: ++view.leaving; break;
    case NodeState::Preempted: ++view.preempted; break;
  }
  if (is_there(state)) ++view.current_nodes;
}

}  // namespace

model::NodeState state_of(const State& state, const model::Node& node) {
  switch (node.status) {
    case NodeStatus::Requested:
    case NodeStatus::Preparing:
      return node.start_failures >= kFailuresToUnusable ? NodeState::Unusable
                                                        : NodeState::Preparing;
    case NodeStatus::Ready:
    case NodeStatus::Detached:
      return state.held.contains(node.id) ? NodeState::Running : NodeState::Idle;
    case NodeStatus::Leaving: return NodeState::Leaving;
    case NodeStatus::Preempted: return NodeState::Preempted;
  }
  return NodeState::Unusable;
}

model::ClusterView view_of(const State& state, const model::Compute& compute) {
  const model::Cluster* cluster = cluster_in(&compute);
  if (cluster == nullptr) return {};
  model::ClusterView view{.target_nodes = wanted_nodes(state, compute, *cluster)};
  const auto index = state.targets.find({compute.key});
  if (index != state.targets.end()) {
    for (const model::NodeId& id : index->second.nodes) {
      const model::Node& node = state.nodes.at(id);
      const NodeState shown = state_of(state, node);
      count(view, shown);
      view.nodes.push_back({id, shown, node.address, job_on(state, id)});
    }
  }
  // Idle nodes stay until their time is over; until then the cluster is what it wants to be.
  const bool is_growing = view.current_nodes - view.leaving - view.preempted < view.target_nodes;
  view.is_steady = !is_growing && view.leaving == 0 && view.preempted == 0 && view.preparing == 0 &&
                   view.unusable == 0;
  if (view.is_steady) view.target_nodes = view.current_nodes;
  if (!compute.start_error.empty()) view.errors.push_back(compute.start_error);
  return view;
}

}  // namespace berth::core
