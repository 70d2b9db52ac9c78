// SPDX-License-Identifier: Apache-2.0
// A state with clusters, and what a control plane does with plans.
#pragma once

#include <gtest/gtest.h>

#include "core/cluster_view.h"
#include "core/ending.h"
#include "core/sample.h"
#include "core/schedule.h"

namespace berth::core {

using namespace std::chrono_literals;
using model::Ending;
using model::JobStatus;
using model::NodeStatus;
using model::Tier;
using sample::at;
using sample::compute_key;
using sample::key;

using Names = std::vector<std::string>;

class ClusterTest : public testing::Test {
 protected:
  ~ClusterTest() override { check_invariants(state); }

  /// Does what the control plane does with a plan, and returns the names of nodes it asked for.
  Names carry_out() {
    Names requested;
    const Plan next = plan(state, at(now));
    for (const auto& node : next.recall) apply_event(state, NodeRecalled{node});
    for (model::Node node : next.request) {
      node.sequence = ++nodes;
      node.id = {node.target.compute.name + "-" + std::to_string(nodes)};
      apply_event(state, NodeRequested{node});
      requested.push_back(node.id.text);
    }
    for (const auto& placed : next.place) apply_event(state, placed);
    for (const auto& node : next.release) apply_event(state, NodeToldToLeave{node});
    for (const auto& node : next.preempt) preempt(node);
    for (const auto& compute : next.remove) apply_event(state, ComputeGone{compute});
    check_invariants(state);
    if (!next.recall.empty()) carry_out();
    return requested;
  }

  void preempt(const model::NodeId& node) {
    apply_event(state, NodePreempted{node});
    for (const model::Job* job : jobs_on(state, node)) {
      apply_event(state, JobPreempted{job->key, job->attempt, "preempted", at(now)});
    }
  }

  void join(const std::string& node) {
    apply_event(state, NodeJoined{.node = {node}, .work_root = "/w", .at = at(now)});
  }
  void join_all(const Names& names) {
    for (const std::string& name : names) join(name);
    carry_out();
  }
  void end(const std::string& job, model::Outcome outcome = {}) {
    const model::Job ending = state.jobs.at(key(job));
    for (const model::Member& member : members_of(ending)) {
      apply_event(state, JobEnded{key(job), ending.attempt, member.node, outcome, at(now)});
    }
    carry_out();
  }

  const model::Job& job(const std::string& name) { return state.jobs.at(key(name)); }
  Names nodes_of(const std::string& name) {
    Names names;
    for (const model::Member& member : members_of(job(name))) names.push_back(member.node.text);
    return names;
  }
  NodeStatus status(const std::string& node) { return state.nodes.at({node}).status; }
  model::ClusterView view(const std::string& cluster) {
    return view_of(state, state.computes.at(compute_key(cluster)));
  }
  std::string why(const std::string& name) { return explain(state, job(name)); }
  Names surplus_after(Duration idle) {
    IdleSince since;
    for (const auto& [id, node] : state.nodes) since[id] = TimePoint(0ms);
    Names names;
    const Surplus found = surplus(state, since, 120s, TimePoint(idle));
    for (const auto& id : found.nodes) names.push_back(id.text);
    return names;
  }

  State state = sample::with_sites();
  int now = 1;
  std::int64_t nodes = 0;
};

}  // namespace berth::core
