// SPDX-License-Identifier: Apache-2.0
// What events do to workspaces and jobs; state_engines.cc has attempts that engines run,
// state_nodes.cc nodes, computes and sites, state_deployments.cc deployments of templates.
#include "core/state.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/apply.h"
#include "core/controller.h"
#include "core/ending.h"
#include "core/index.h"
#include "core/service.h"
#include "model/compute_kind.h"

namespace berth::core {

using model::JobStatus;

namespace {

/// The attempt is as far as the last of its members.
JobStatus status_of_members(const model::Job& job) {
  JobStatus slowest = JobStatus::Finalizing;
  for (const model::Member& member : members_of(job)) {
    if (!member.outcome && progress(member.status) < progress(slowest)) slowest = member.status;
  }
  return slowest;
}

/// The member that a report is about, unless the report is of another attempt or comes late.
model::Member* reporting_member(model::Job* job, int attempt, const model::NodeId& node) {
  if (job == nullptr || job->attempt != attempt) return nullptr;
  auto* held = std::get_if<model::Members>(&job->holding);
  if (held == nullptr) return nullptr;
  for (model::Member& member : held->members) {
    if (member.node == node && !member.outcome) return &member;
  }
  return nullptr;
}

/// What the job had of each of its nodes; only clusters cost anything.
std::vector<model::Usage> usage_of(const State& state, const model::Job& job, WallTime now) {
  std::vector<model::Usage> all;
  const model::Compute* compute = compute_of(state, target_of(job));
  const model::Cluster* cluster = cluster_in(compute);
  if (cluster == nullptr || !job.placed_at) return all;
  for (const model::Member& member : members_of(job)) {
    const auto node = state.nodes.find(member.node);
    all.push_back({.workspace = job.key.workspace,
                   .compute = compute->name,
                   .node = member.node.text,
                   .job = job.key.name,
                   .attempt = job.attempt,
                   .size = cluster->size,
                   .tier = cluster->tier,
                   .price_per_hour = node == state.nodes.end() ? 0 : node->second.price_per_hour,
                   .began_at = *job.placed_at,
                   .ended_at = now});
  }
  return all;
}

void queue_again(State& state, model::Job& job, std::string reason, WallTime at) {
  unindex(state, job);
  job.status = JobStatus::Queued;
  job.holding = model::None{};
  job.is_yielding = false;
  job.requeue_reason = std::move(reason);
  job.started_at.reset();
  job.placed_at.reset();
  job.modified_at = at;
  index(state, job);
}

/// The count of the children of which this is one; nullptr when nobody counts it.
model::Children* tally_of(State& state, const model::Job& child) {
  if (child.spec->parent_job_name.empty()) return nullptr;
  model::Job* parent = find(state, parent_of(child));
  return parent == nullptr ? nullptr : std::get_if<model::Children>(&parent->holding);
}

void count_submitted(State& state, const model::Job& child, Touched& touched) {
  model::Children* tally = tally_of(state, child);
  if (tally == nullptr) return;
  tally->submitted += 1;
  touched.of<model::Job>().insert(parent_of(child));
}

void count_ended(State& state, const model::Job& child, Touched& touched) {
  model::Children* tally = tally_of(state, child);
  if (tally == nullptr || !is_terminal(child.status)) return;
  if (child.status == JobStatus::Completed) tally->completed += 1;
  if (child.status == JobStatus::Failed) tally->failed += 1;
  if (child.status == JobStatus::Canceled) tally->canceled += 1;
  touched.of<model::Job>().insert(parent_of(child));
}

void end(State& state, model::Job& job, const model::Outcome& outcome, bool was_taken,
         WallTime at) {
  Verdict verdict = judge(job, outcome);
  if (was_taken && outcome.ending == model::Ending::Stopped) {
    verdict = {.error = {{"Preempted", job.requeue_reason}}};
  }
  if (was_taken && job.requeues > 0) {
    verdict.error->message +=
        fmt::format("; it had been queued again {} times already", job.requeues);
  }
  unindex(state, job);
  job.status = verdict.status;
  job.error = std::move(verdict.error);
  job.outcome = outcome;
  job.holding = model::None{};
  job.is_yielding = false;
  job.ended_at = at;
  job.modified_at = at;
}

/// Whatever the workspace owns. What stands in an index, as a job does, is taken out of it before.
void drop_owned(State& state, const model::WorkspaceId& workspace, Touched& touched) {
  for_each_entity([&]<typename T>() {
    if constexpr (kIsOwned<EntityKey<T>>) {
      std::erase_if(Entity<T>::map(state), [&](const auto& entry) {
        if (entry.first.workspace != workspace) return false;
        touched.of<T>().insert(entry.first);
        return true;
      });
    }
  });
}

/// It waits for no node: its children do.
void begin_parent(model::Job& job) {
  job.status = JobStatus::Running;
  job.attempt = 1;
  job.holding = model::Children{};
  job.started_at = job.created_at;
}

std::string reason_of_requeue(const model::Job& job) {
  for (const model::Member& member : members_of(job)) {
    if (member.outcome && member.outcome->ending == model::Ending::Lost) {
      return fmt::format("node '{}' was lost: {}", member.node.text, member.outcome->message);
    }
  }
  return job.requeue_reason;
}

/// A service is taken from its nodes as often as it takes: it is not meant to end.
bool may_repeat(const State& state, const model::Job& job) {
  if (!model::traits_of(compute_of(state, target_of(job))).repeats_lost_work) return false;
  return model::service_of(job.spec) != nullptr || job.requeues < state.settings.max_requeues;
}

}  // namespace

int progress(JobStatus status) {
  switch (status) {
    case JobStatus::Starting: return 1;
    case JobStatus::Preparing: return 2;
    case JobStatus::Running: return 3;
    case JobStatus::Finalizing: return 4;
    default: return 0;
  }
}

void move_notes(model::Outcome& outcome, model::Job& job) {
  for (std::string& note : std::exchange(outcome.notes, {})) {
    if (std::ranges::find(job.warnings, note) == job.warnings.end()) {
      job.warnings.push_back(std::move(note));
    }
  }
}

void end_attempt(State& state, model::Job& job, const model::Outcome& outcome,
                 const std::optional<std::string>& taken, WallTime at, Touched& touched) {
  if (taken && may_repeat(state, job)) {
    job.requeues += 1;
    return queue_again(state, job, *taken, at);
  }
  if (const auto restart = restart_of(job, outcome, at)) {
    job.restarts = restart->number;
    queue_again(state, job, restart->reason, at);
    job.not_before = restart->not_before;
    return;
  }
  end(state, job, outcome, taken.has_value(), at);
  count_ended(state, job, touched);
}

void end_member(State& state, model::Job& job, const model::NodeId& node,
                const model::Outcome& outcome, WallTime at, Touched& touched) {
  model::Member* member = reporting_member(&job, job.attempt, node);
  if (member == nullptr) return;
  member->outcome = outcome;
  member->ended_at = at;
  job.modified_at = at;
  move_notes(*member->outcome, job);
  touched.of<model::Job>().insert(job.key);
  const bool all_ended = std::ranges::all_of(
      members_of(job), [](const model::Member& each) { return each.outcome.has_value(); });
  if (!all_ended) return;
  std::ranges::move(usage_of(state, job, at), std::back_inserter(touched.usage));
  const auto taken =
      was_taken(job) ? std::optional(reason_of_requeue(job)) : std::optional<std::string>();
  end_attempt(state, job, combine(job), taken, at, touched);
}

Touched on(State& state, const WorkspaceMade& event) {
  state.workspaces[event.workspace.id] = event.workspace;
  return touching<model::Workspace>(event.workspace.id);
}

Touched on(State& state, const WorkspaceDeleted& event) {
  if (state.workspaces.erase(event.workspace) == 0) return {};
  Touched touched = touching<model::Workspace>(event.workspace);
  auto job = state.jobs.lower_bound({event.workspace, ""});
  for (; job != state.jobs.end() && job->first.workspace == event.workspace; ++job) {
    unindex(state, job->second);
  }
  drop_owned(state, event.workspace, touched);
  forget_access(state, event.workspace, touched);
  return touched;
}

Touched on(State& state, const JobSubmitted& event) {
  const auto [place, is_new] = state.jobs.try_emplace(event.job.key, event.job);
  if (!is_new) return {};
  model::Job& job = place->second;
  job.attempt = 0;
  job.holding = model::None{};
  state.recent_specs.share(job);
  if (has_children(job.spec->work)) {
    begin_parent(job);
  } else {
    job.status = JobStatus::Queued;
  }
  index(state, job);
  Touched touched = touching<model::Job>(job.key);
  count_submitted(state, job, touched);
  return touched;
}

Touched on(State& state, const JobRelabelled& event) {
  model::Job* job = find(state, event.job);
  if (job == nullptr) return {};
  job->display_name = event.display_name;
  job->description = event.description;
  job->tags = event.tags;
  job->properties = event.properties;
  job->is_archived = event.is_archived;
  job->modified_at = event.at;
  return touching<model::Job>(event.job);
}

Touched on(State& state, const JobPlaced& event) {
  model::Job* job = find(state, event.job);
  if (job == nullptr || job->status != JobStatus::Queued || event.nodes.empty()) return {};
  const bool all_there = std::ranges::all_of(
      event.nodes, [&](const model::NodeId& node) { return state.nodes.contains(node); });
  if (!all_there) return {};
  unindex(state, *job);
  job->status = JobStatus::Starting;
  job->attempt += 1;
  job->fence = event.fence;
  job->not_before.reset();
  model::Members& held = job->holding.emplace<model::Members>();
  for (const model::NodeId& node : event.nodes) held.members.push_back({.node = node});
  job->placed_at = event.at;
  job->modified_at = event.at;
  index(state, *job);
  return touching<model::Job>(event.job);
}

Touched on(State& state, const JobAdvanced& event) {
  model::Job* job = find(state, event.job);
  model::Member* member = reporting_member(job, event.attempt, event.node);
  if (member == nullptr || progress(event.status) <= progress(member->status)) return {};
  member->status = event.status;
  const JobStatus reached = status_of_members(*job);
  const bool starts = progress(reached) >= progress(JobStatus::Running) && !job->started_at;
  const bool moves = progress(reached) > progress(job->status) && !job->cancel_requested;
  if (starts) job->started_at = event.at;
  if (moves) job->status = reached;
  job->modified_at = event.at;
  return touching<model::Job>(event.job);
}

Touched on(State& state, const MemberPrepared& event) {
  model::Job* job = find(state, event.job);
  model::Member* member = reporting_member(job, event.attempt, event.node);
  if (member == nullptr) return {};
  // Once its peers were told to go, an address must not change under them.
  const bool is_known = member->port != 0;
  if (is_known && (member->port == event.port || progress(member->status) > 2)) return {};
  member->address = event.address;
  member->port = event.port;
  return touching<model::Job>(event.job);
}

Touched on(State& state, const EndpointChanged& event) {
  model::Job* job = find(state, event.job);
  model::Member* member = reporting_member(job, event.attempt, event.node);
  if (member == nullptr || model::service_of(job->spec) == nullptr) return {};
  if (member->endpoint == event.endpoint) return {};
  member->endpoint = event.endpoint;
  return touching<model::Job>(event.job);
}

/// Only a job of one member can be: the others of a gang have begun to prepare.
Touched on(State& state, const JobReturned& event) {
  model::Job* job = find(state, event.job);
  const model::Member* member = reporting_member(job, event.attempt, event.node);
  if (member == nullptr || members_of(*job).size() != 1) return {};
  if (job->status != JobStatus::Starting) return {};
  unindex(state, *job);
  job->status = JobStatus::Queued;
  job->holding = model::None{};
  job->is_yielding = false;  // It was also taken back: whichever is heard first.
  job->placed_at.reset();
  job->modified_at = event.at;
  index(state, *job);
  return touching<model::Job>(event.job);
}

Touched on(State& state, const JobCancelRequested& event) {
  model::Job* job = find(state, event.job);
  if (job == nullptr || is_terminal(job->status) || job->cancel_requested) return {};
  unindex(state, *job);
  job->cancel_requested = true;
  job->modified_at = event.at;
  if (holds_anything(*job)) {
    job->status = JobStatus::CancelRequested;
  } else {
    job->status = JobStatus::Canceled;
    job->not_before.reset();
    job->ended_at = event.at;
  }
  index(state, *job);
  Touched touched = touching<model::Job>(event.job);
  count_ended(state, *job, touched);
  return touched;
}

Touched on(State& state, const JobPreempted& event) {
  model::Job* job = find(state, event.job);
  const bool applies = job != nullptr && holds_nodes(*job) && job->attempt == event.attempt &&
                       !job->cancel_requested && !job->is_yielding;
  if (!applies) return {};
  job->is_yielding = true;
  job->requeue_reason = event.reason;
  job->modified_at = event.at;
  return touching<model::Job>(event.job);
}

Touched on(State& state, const JobEnded& event) {
  Touched touched;
  model::Job* job = find(state, event.job);
  if (job == nullptr || job->attempt != event.attempt) return touched;
  end_member(state, *job, event.node, event.outcome, event.at, touched);
  return touched;
}

Touched on(State& state, const ParentEnded& event) {
  model::Job* job = find(state, event.job);
  if (job == nullptr || !std::holds_alternative<model::Children>(job->holding)) return {};
  unindex(state, *job);
  job->status = event.status;
  job->error = event.error;
  job->holding = model::None{};
  job->ended_at = event.at;
  job->modified_at = event.at;
  Touched touched = touching<model::Job>(event.job);
  count_ended(state, *job, touched);
  return touched;
}

Touched on(State& state, const JobDeleted& event) {
  const model::Job* job = find(state, event.job);
  if (job == nullptr) return {};
  unindex(state, *job);
  state.jobs.erase(event.job);
  return touching<model::Job>(event.job);
}

/// It touches nothing: what the disk has of it is the same.
Touched on(State& state, const JobBroughtBack& event) {
  if (is_terminal(event.job.status)) state.jobs.try_emplace(event.job.key, event.job);
  return {};
}

Touched on(State& state, const JobWarned& event) {
  model::Job* job = find(state, event.job);
  if (job == nullptr || event.warnings.empty()) return {};
  std::ranges::copy(event.warnings, std::back_inserter(job->warnings));
  return touching<model::Job>(event.job);
}

model::Job* find(State& state, const model::JobKey& key) {
  const auto found = state.jobs.find(key);
  return found == state.jobs.end() ? nullptr : &found->second;
}

model::TargetId target_of(const model::WorkspaceId& workspace, std::string_view name) {
  if (equals_ignoring_case(name, model::kLocalCompute)) return {};
  return {{workspace, to_lower(name)}};
}

model::TargetId target_of(const model::Job& job) {
  const std::string& compute = job.spec->compute;
  if (compute.empty() || compute == "serverless") return {};
  return target_of(job.key.workspace, compute);
}

Touched apply_event(State& state, const Event& event) {
  return std::visit([&](const auto& fact) { return on(state, fact); }, event);
}

void forget_ended(State& state, const EntityKeys& ended) {
  for (const model::JobKey& key : ended.of<model::Job>()) {
    const model::Job* job = find(state, key);
    if (job != nullptr && is_terminal(job->status)) state.jobs.erase(key);
  }
  for (const model::DeploymentKey& key : ended.of<model::TemplateDeployment>()) {
    const auto found = state.deployments.find(key);
    if (found != state.deployments.end() && is_over(found->second.state)) forget(state, key);
  }
}

std::vector<const model::Job*> jobs_on(const State& state, const model::NodeId& node) {
  std::vector<const model::Job*> jobs;
  const auto held = state.held.find(node);
  if (held == state.held.end()) return jobs;
  for (const model::JobKey& key : held->second) jobs.push_back(&state.jobs.at(key));
  return jobs;
}

}  // namespace berth::core
