// SPDX-License-Identifier: Apache-2.0
#include "core/index.h"

#include "model/compute_kind.h"

namespace berth::core {
namespace {

using model::JobStatus;
using model::NodeStatus;

Place place_of(const model::Job& job) {
  return {.urgency = -job.spec->priority, .sequence = job.sequence};
}

/// Nodes it waits for. A gang that its cluster can never hold (the maximum was lowered) asks for
/// none: it would only make the cluster grow for nothing.
int demand_of(const State& state, const model::Job& job, const model::TargetId& target) {
  const int count = nodes_of_attempt(job.spec);
  const model::Cluster* cluster = cluster_of(state, target);
  return cluster != nullptr && count > cluster->scale.max_nodes ? 0 : count;
}

bool is_staying(const model::Node& node) {
  return node.status != NodeStatus::Leaving && node.status != NodeStatus::Preempted;
}

void drop_if_empty(State& state, const model::TargetId& target) {
  const auto found = state.targets.find(target);
  if (found == state.targets.end()) return;
  const TargetIndex& counts = found->second;
  const bool is_empty = counts.nodes.empty() && counts.line.empty() && counts.engine_runs.empty();
  if (is_empty) state.targets.erase(found);
}

/// Adds the node to (or takes it from) everything that counts nodes by what they do.
void count_activity(State& state, const model::Node& node, int by) {
  TargetIndex& target = state.targets[node.target];
  const bool staying = is_staying(node);
  if (staying) target.staying += by;
  if (staying && state.held.contains(node.id)) target.busy += by;
  const auto put = [&](std::set<model::NodeId>& into, bool belongs) {
    if (belongs && by > 0) into.insert(node.id);
    if (belongs && by < 0) into.erase(node.id);
  };
  const int jobs = jobs_at(state, node);
  const bool is_ready = node.status == NodeStatus::Ready;
  put(target.vacant, is_ready && jobs < node.slots);
  put(target.roomy, is_ready && jobs >= node.slots && jobs < node.slots + node.ahead);
  put(target.recallable, node.status == NodeStatus::Leaving && !node.is_dismissed);
}

void count_room(State& state, const model::Node& node, int by) {
  if (!model::traits_of(compute_of(state, node.target)).takes_room) return;
  SiteUse& use = state.site_use[node.site];
  use.nodes += by;
  use.cores += by * node.cores;
  use.memory_mib += by * node.memory_mib;
  for (const int gpu : node.gpus) {
    if (by > 0) use.gpus.insert(gpu);
    if (by < 0) use.gpus.erase(gpu);
  }
  if (use.nodes == 0) state.site_use.erase(node.site);
}

void enter_parent(State& state, const model::Job& job) {
  if (job.spec->parent_job_name.empty() || is_terminal(job.status)) return;
  state.children[parent_of(job)].insert(job.key);
}

void leave_parent(State& state, const model::Job& job) {
  if (job.spec->parent_job_name.empty()) return;
  const auto siblings = state.children.find(parent_of(job));
  if (siblings == state.children.end()) return;
  siblings->second.erase(job.key);
  if (siblings->second.empty()) state.children.erase(siblings);
}

/// Takes the nodes of a job's members out of the counts, changes who holds them, and puts them
/// back.
template <typename Change>
void change_holders(State& state, const model::Job& job, const Change& change) {
  for (const model::Member& member : members_of(job)) {
    const auto node = state.nodes.find(member.node);
    if (node != state.nodes.end()) count_activity(state, node->second, -1);
    change(member.node);
    if (node != state.nodes.end()) count_activity(state, node->second, +1);
  }
}

void enter_line(State& state, const model::Job& job) {
  const model::TargetId target = target_of(job);
  TargetIndex& index = state.targets[target];
  index.line.emplace(place_of(job), job.key);
  index.wanted_nodes += demand_of(state, job, target);
  ++state.queued;
}

void leave_line(State& state, const model::Job& job) {
  const model::TargetId target = target_of(job);
  TargetIndex& index = state.targets[target];
  if (index.line.erase(place_of(job)) > 0) --state.queued;
  index.wanted_nodes -= demand_of(state, job, target);
  drop_if_empty(state, target);
}

}  // namespace

const TargetIndex& index_of(const State& state, const model::TargetId& target) {
  static const TargetIndex kNothing;
  const auto found = state.targets.find(target);
  return found == state.targets.end() ? kNothing : found->second;
}

int jobs_at(const State& state, const model::Node& node) {
  const auto held = state.held.find(node.id);
  return held == state.held.end() ? 0 : static_cast<int>(held->second.size());
}

void index(State& state, const model::Job& job) {
  enter_parent(state, job);
  if (holds_anything(job)) ++state.under_way;
  if (job.status == JobStatus::Queued) enter_line(state, job);
  if (engine_run_of(job) != nullptr) state.targets[target_of(job)].engine_runs.insert(job.key);
  change_holders(state, job, [&](const model::NodeId& node) { state.held[node].insert(job.key); });
}

void unindex(State& state, const model::Job& job) {
  leave_parent(state, job);
  if (holds_anything(job)) --state.under_way;
  if (job.status == JobStatus::Queued) leave_line(state, job);
  if (engine_run_of(job) != nullptr) {
    const model::TargetId target = target_of(job);
    state.targets[target].engine_runs.erase(job.key);
    drop_if_empty(state, target);
  }
  change_holders(state, job, [&](const model::NodeId& node) {
    const auto held = state.held.find(node);
    if (held == state.held.end()) return;
    held->second.erase(job.key);
    if (held->second.empty()) state.held.erase(held);
  });
}

void index(State& state, const model::Node& node) {
  state.targets[node.target].nodes.insert(node.id);
  count_activity(state, node, +1);
  count_room(state, node, +1);
}

void unindex(State& state, const model::Node& node) {
  count_activity(state, node, -1);
  count_room(state, node, -1);
  state.targets[node.target].nodes.erase(node.id);
  drop_if_empty(state, node.target);
}

void recount_demand(State& state, const model::TargetId& target) {
  const auto index = state.targets.find(target);
  if (index == state.targets.end()) return;
  index->second.wanted_nodes = 0;
  for (const auto& [place, job] : index->second.line) {
    index->second.wanted_nodes += demand_of(state, state.jobs.at(job), target);
  }
}

void rebuild_indexes(State& state) {
  state.queued = 0;
  state.held.clear();
  state.children.clear();
  state.targets.clear();
  state.site_use.clear();
  state.under_way = 0;
  for (const auto& [id, node] : state.nodes) index(state, node);
  for (const auto& [key, job] : state.jobs) index(state, job);
}

}  // namespace berth::core
