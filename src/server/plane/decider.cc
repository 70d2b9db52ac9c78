// SPDX-License-Identifier: Apache-2.0
#include "server/plane/decider.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/ending.h"
#include "server/plane/attempt.h"

namespace berth::server {

using model::DeploymentKey;
using model::Job;
using model::JobKey;
using model::Node;
using model::NodeId;
using model::NodeStatus;
using model::TemplateDeployment;

namespace {

/// How long a node that is to leave can still be called back by a new job.
constexpr Duration kRecallTime(200);

/// On a full disk what it begins could only fail: it waits.
bool needs_room(const core::Order& order) {
  return std::holds_alternative<core::SubmitChild>(order);
}
bool needs_room(const core::DeploymentOrder& order) {
  const auto* asked = std::get_if<core::MakerOrder>(&order);
  return asked != nullptr && std::holds_alternative<core::MakeResource>(*asked);
}

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

void Decider::attach(TemplateMaker* maker) {
  maker_ = maker;
  for (const auto& [key, deployment] : state_.deployments) {
    restless_.of<TemplateDeployment>().insert(key);
  }
}

void Decider::loaded() {
  idleness_.clear();
  leaving_since_.clear();
  restless_ = {};
  for (const auto& [key, job] : state_.jobs) {
    if (has_children(job.spec->work)) restless_.of<Job>().insert(key);
  }
  attach(maker_);
}

void Decider::after(const core::Touched& touched) {
  idleness_.after(touched);
  for (const JobKey& key : touched.of<Job>()) {
    const auto job = state_.jobs.find(key);
    const bool is_parent = job != state_.jobs.end() && has_children(job->second.spec->work);
    if (is_parent) restless_.of<Job>().insert(key);
  }
  restless_.of<TemplateDeployment>().insert(touched.of<TemplateDeployment>().begin(),
                                            touched.of<TemplateDeployment>().end());
  for (const model::OperationKey& line : touched.of<model::DeploymentOperation>()) {
    const TemplateDeployment* deployment = core::find_deployment(state_, line.deployment);
    if (deployment != nullptr) restless_.of<TemplateDeployment>().insert(key_of(*deployment));
  }
}

void Decider::recorded(const core::Touched& touched) {
  const bool concerns_maker = maker_ != nullptr && !touched.of<TemplateDeployment>().empty();
  if (concerns_maker) maker_->recorded();
}

/// A child that begins, ends or goes away touches its parent, and a line its deployment: they are
/// asked again until they order nothing more.
template <typename T>
void Decider::step_restless() {
  std::set<core::EntityKey<T>> waiting;
  auto& restless = restless_.of<T>();
  while (!restless.empty()) {
    const auto key = restless.extract(restless.begin()).value();
    const auto& all = core::Entity<T>::map(state_);
    const auto found = all.find(key);
    if (found == all.end()) continue;
    for (const auto& order : core::step(state_, found->second)) {
      if (needs_room(order) && parts_.store.is_full()) {
        waiting.insert(key);
      } else {
        carry_out(key, order);
      }
    }
  }
  restless = std::move(waiting);
}

void Decider::carry_out(const JobKey& parent, const core::Order& order) {
  const WallTime now = parts_.clock.now().wall;
  if (const auto* submit = std::get_if<core::SubmitChild>(&order)) {
    Job child = submit->child;
    child.sequence = next_job_sequence();
    child.created_at = child.modified_at = now;
    ledger_.apply(core::JobSubmitted{std::move(child)});
  } else if (const auto* cancel = std::get_if<core::CancelChild>(&order)) {
    ledger_.apply(core::JobCancelRequested{cancel->child, now});
    stop_rest(cancel->child);
  } else if (const auto* end = std::get_if<core::SetParentStatus>(&order)) {
    ledger_.apply(
        core::ParentEnded{.job = parent, .status = end->status, .error = end->error, .at = now});
  }
}

void Decider::carry_out(const DeploymentKey& key, const core::DeploymentOrder& order) {
  const WallTime now = parts_.clock.now().wall;
  if (const auto* asked = std::get_if<core::MakerOrder>(&order)) {
    ask_maker(key, *asked);
  } else if (const auto* settle = std::get_if<core::SettleResource>(&order)) {
    model::DeploymentOperation line = settle->line;
    line.started_at = line.ended_at = now;
    ledger_.apply(core::ResourceSettled{key, std::move(line)});
  } else if (const auto* end = std::get_if<core::EndDeployment>(&order)) {
    ledger_.apply(core::DeploymentEnded{.deployment = key,
                                        .id = state_.deployments.at(key).id,
                                        .state = end->state,
                                        .error_code = end->error_code,
                                        .error = end->error,
                                        .at = now});
  }
}

void Decider::ask_maker(const DeploymentKey& key, const core::MakerOrder& order) {
  ledger_.then([this, key, id = state_.deployments.at(key).id, order] {
    if (maker_ != nullptr) maker_->carry_out(key, id, order);
  });
}

void Decider::decide() {
  step_restless<Job>();
  if (maker_ != nullptr) step_restless<TemplateDeployment>();
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
