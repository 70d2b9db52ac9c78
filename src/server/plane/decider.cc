// SPDX-License-Identifier: Apache-2.0
#include "server/plane/decider.h"

#include <fmt/format.h>

#include <algorithm>
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
  next_job_sequence_ = TRY(parts_.store.last_sequence()) + 1;
  return Done{};
}

void Decider::loaded() {
  idleness_.clear();
  leaving_since_.clear();
  restless_.clear();
  for (const auto& [key, job] : state_.jobs) {
    if (has_children(job.spec.work)) restless_.insert(key);
  }
}

void Decider::after(const core::Touched& touched) {
  idleness_.after(touched);
  for (const JobKey& key : touched.of<model::Job>()) {
    const auto job = state_.jobs.find(key);
    if (job != state_.jobs.end() && has_children(job->second.spec.work)) restless_.insert(key);
  }
}

/// A child that begins, ends or goes away touches its parent, which is asked again until it orders
/// nothing more.
void Decider::step_parents() {
  std::set<JobKey> waiting;
  while (!restless_.empty()) {
    const JobKey key = restless_.extract(restless_.begin()).value();
    const auto parent = state_.jobs.find(key);
    if (parent == state_.jobs.end()) continue;
    for (const core::Order& order : core::step(state_, parent->second)) {
      const bool has_to_wait =
          std::holds_alternative<core::SubmitChild>(order) && parts_.store.is_full();
      if (has_to_wait) {
        waiting.insert(key);
      } else {
        std::visit([&](const auto& what) { carry_out(key, what); }, order);
      }
    }
  }
  restless_ = std::move(waiting);
}

void Decider::carry_out(const JobKey&, const core::SubmitChild& order) {
  model::Job child = order.child;
  child.sequence = next_job_sequence();
  child.created_at = child.modified_at = parts_.clock.now().wall;
  ledger_.apply(core::JobSubmitted{std::move(child)});
}

void Decider::carry_out(const JobKey&, const core::CancelChild& order) {
  ledger_.apply(core::JobCancelRequested{order.child, parts_.clock.now().wall});
  stop_rest(order.child);
}

void Decider::carry_out(const JobKey& parent, const core::SetParentStatus& order) {
  ledger_.apply(core::ParentEnded{
      .job = parent, .status = order.status, .error = order.error, .at = parts_.clock.now().wall});
}

void Decider::decide() {
  step_parents();
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
    for (const core::EngineRunStarted& started : plan.hand_over) hand_over(started);
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

/// server/fleet/engine_keeper.h sees to it that the engine has what the State says.
void Decider::hand_over(core::EngineRunStarted started) {
  started.fence = parts_.make_fence();
  ledger_.apply(started);
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

/// Nodes are told a moment before their idle time is over: the moment in which they can be called
/// back is part of it.
void Decider::let_nodes_go() {
  next_departure_.reset();
  const TimePoint soon = parts_.clock.now().mono + kRecallTime;
  const core::Surplus surplus = core::surplus(state_, idleness_.since(), parts_.node_idle, soon);
  for (const NodeId& node : surplus.nodes) ledger_.apply(core::NodeToldToLeave{node});
  if (surplus.next) expect_departure(*surplus.next - kRecallTime);
  dismiss_leaving();
}

void Decider::expect_departure(TimePoint at) {
  next_departure_ = std::min(next_departure_.value_or(at), at);
}

/// Nodes on their way out that nothing keeps any more.
void Decider::dismiss_leaving() {
  const TimePoint now = parts_.clock.now().mono;
  std::vector<NodeId> going;
  for (const auto& [id, node] : state_.nodes) {
    if (node.is_dismissed || state_.held.contains(id)) continue;
    if (node.status == NodeStatus::Preempted) going.push_back(id);
    if (node.status != NodeStatus::Leaving) continue;
    const TimePoint due = leaving_since_.try_emplace(id, now).first->second + kRecallTime;
    if (due <= now) {
      going.push_back(id);
    } else {
      expect_departure(due);
    }
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
