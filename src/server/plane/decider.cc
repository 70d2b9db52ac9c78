// SPDX-License-Identifier: Apache-2.0
#include "server/plane/decider.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/ending.h"
#include "server/plane/attempt.h"

namespace berth::server {

using model::JobKey;
using model::Node;
using model::NodeId;
using model::NodeStatus;

namespace {

/// How long a node that is to leave can still be called back by a new job.
constexpr Duration kRecallTime(200);

}  // namespace

Decider::Decider(DeciderParts parts)
    : parts_(std::move(parts)),
      ledger_(parts_.ledger),
      state_(ledger_.state()),
      idleness_(state_, parts_.clock) {}

Status Decider::start() {
  next_node_sequence_ = TRY(parts_.store.last_node_sequence()) + 1;
  return Done{};
}

void Decider::loaded() {
  idleness_.clear();
  leaving_since_.clear();
}

void Decider::decide() {
  const core::Plan plan = core::plan(state_, parts_.clock.now().wall);
  carry_out(plan);
  // What was called back can be given work at once.
  if (!plan.recall.empty()) carry_out(core::plan(state_, parts_.clock.now().wall));
}

void Decider::carry_out(const core::Plan& plan) {
  for (const NodeId& node : plan.recall) ledger_.apply(core::NodeRecalled{node});
  // On a full disk a job could only fail: it waits.
  if (!parts_.store.is_full()) {
    for (const Node& node : plan.request) request(node);
    for (const core::JobPlaced& placed : plan.place) place(placed);
  }
  for (const NodeId& node : plan.release) ledger_.apply(core::NodeToldToLeave{node});
  for (const NodeId& node : plan.preempt) {
    preempt(node, fmt::format("node '{}' was taken for a dedicated cluster", node.text));
  }
  for (const model::ComputeKey& compute : plan.remove) ledger_.apply(core::ComputeGone{compute});
}

void Decider::request(Node node) {
  node.sequence = next_node_sequence_++;
  // The node of a machine bears the machine's name; a cluster's are numbered.
  if (node.id.text.empty()) {
    node.id = {fmt::format("{}-{}", node.target.compute.name, node.sequence)};
  }
  ledger_.apply(core::NodeRequested{node});
  ledger_.then([this, id = node.id] {
    const auto found = state_.nodes.find(id);
    if (found != state_.nodes.end()) parts_.effects.start_node(found->second);
  });
}

void Decider::place(core::JobPlaced placed) {
  placed.fence = parts_.make_fence();
  ledger_.apply(placed);
  for (const NodeId& node : placed.nodes) launch_member(placed.job, node);
}

/// What is in the state when the effect runs may not be on disk yet.
void Decider::launch_member(const JobKey& key, const NodeId& node) {
  ledger_.then([this, attempt = attempt_of(state_.jobs.at(key)), node] {
    const auto where = state_.nodes.find(node);
    if (where == state_.nodes.end() || !holds(state_, node, attempt)) return;
    parts_.effects.launch(state_.jobs.at(attempt.job), where->second);
  });
}

void Decider::preempt(const NodeId& node, const std::string& reason) {
  ledger_.apply(core::NodePreempted{node});
  std::vector<JobKey> jobs;
  for (const model::Job* job : core::jobs_on(state_, node)) jobs.push_back(job->key);
  for (const JobKey& key : jobs) {
    ledger_.apply(core::JobPreempted{.job = key,
                                     .attempt = state_.jobs.at(key).attempt,
                                     .reason = reason,
                                     .at = parts_.clock.now().wall});
    stop_rest(key);
  }
}

void Decider::stop_rest(const JobKey& key) {
  const auto job = state_.jobs.find(key);
  if (job == state_.jobs.end()) return;
  for (const NodeId& node : core::members_to_stop(job->second)) {
    ledger_.then(
        [this, attempt = attempt_of(job->second), node] { parts_.effects.stop(attempt, node); });
  }
}

void Decider::let_nodes_go() {
  const TimePoint now = parts_.clock.now().mono;
  dismiss_leaving();
  for (const NodeId& node : core::surplus(state_, idleness_.since(), parts_.node_idle, now)) {
    ledger_.apply(core::NodeToldToLeave{node});
  }
}

/// Nodes on their way out that nothing keeps any more.
void Decider::dismiss_leaving() {
  const TimePoint now = parts_.clock.now().mono;
  std::vector<NodeId> going;
  for (const auto& [id, node] : state_.nodes) {
    if (node.is_dismissed || state_.held.contains(id)) continue;
    if (node.status == NodeStatus::Preempted) going.push_back(id);
    if (node.status != NodeStatus::Leaving) continue;
    const TimePoint since = leaving_since_.try_emplace(id, now).first->second;
    if (now - since >= kRecallTime) going.push_back(id);
  }
  std::erase_if(leaving_since_, [this](const auto& entry) {
    const auto node = state_.nodes.find(entry.first);
    return node == state_.nodes.end() || node->second.status != NodeStatus::Leaving;
  });
  for (const NodeId& id : going) {
    ledger_.apply(core::NodeDismissed{id});
    ledger_.then([this, id] { parts_.effects.dismiss_node(id); });
  }
}

}  // namespace berth::server
