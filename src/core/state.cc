// SPDX-License-Identifier: Apache-2.0
#include "core/state.h"

#include <fmt/format.h>

#include "base/check.h"
#include "core/ending.h"

namespace berth::core {
namespace {

using model::JobStatus;
using model::NodeStatus;

/// Has a slot of a node, from its placement to its end.
bool holds_node(const model::Job& job) { return !job.node.text.empty(); }

QueueEntry entry_of(const model::Job& job) {
  return {.target = target_of(job.spec),
          .urgency = -job.spec.priority,
          .sequence = job.sequence,
          .job = job.key};
}

void index(State& state, const model::Job& job) {
  if (job.status == JobStatus::Queued) state.queue.insert(entry_of(job));
  if (holds_node(job)) state.held[job.node].insert(job.key);
}

void unindex(State& state, const model::Job& job) {
  if (job.status == JobStatus::Queued) state.queue.erase(entry_of(job));
  const auto held = state.held.find(job.node);
  if (held == state.held.end()) return;
  held->second.erase(job.key);
  if (held->second.empty()) state.held.erase(held);
}

model::Job* find(State& state, const model::JobKey& key) {
  const auto found = state.jobs.find(key);
  return found == state.jobs.end() ? nullptr : &found->second;
}

model::Node* find(State& state, const model::NodeId& id) {
  const auto found = state.nodes.find(id);
  return found == state.nodes.end() ? nullptr : &found->second;
}

/// How far an attempt has come; nothing that is not part of that way has a place on it.
int progress(JobStatus status) {
  switch (status) {
    case JobStatus::Starting: return 1;
    case JobStatus::Preparing: return 2;
    case JobStatus::Running: return 3;
    case JobStatus::Finalizing: return 4;
    default: return 0;
  }
}

void end(State& state, model::Job& job, const model::Outcome& outcome, WallTime at) {
  Verdict verdict = judge(job, outcome);
  unindex(state, job);
  job.status = verdict.status;
  job.error = std::move(verdict.error);
  job.outcome = outcome;
  job.node = {};
  job.ended_at = at;
  job.modified_at = at;
}

Touched on(State& state, const WorkspaceMade& event) {
  state.workspaces[event.workspace.id] = event.workspace;
  return {.workspaces = {event.workspace.id}};
}

Touched on(State& state, const WorkspaceDeleted& event) {
  if (state.workspaces.erase(event.workspace) == 0) return {};
  Touched touched{.workspaces = {event.workspace}};
  auto job = state.jobs.lower_bound({event.workspace, ""});
  while (job != state.jobs.end() && job->first.workspace == event.workspace) {
    unindex(state, job->second);
    touched.jobs.insert(job->first);
    job = state.jobs.erase(job);
  }
  return touched;
}

Touched on(State& state, const JobSubmitted& event) {
  const auto [place, is_new] = state.jobs.try_emplace(event.job.key, event.job);
  if (!is_new) return {};
  model::Job& job = place->second;
  job.status = JobStatus::Queued;
  job.attempt = 0;
  job.node = {};
  index(state, job);
  return {.jobs = {job.key}};
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
  return {.jobs = {event.job}};
}

Touched on(State& state, const JobPlaced& event) {
  model::Job* job = find(state, event.job);
  if (job == nullptr || job->status != JobStatus::Queued) return {};
  if (find(state, event.node) == nullptr) return {};
  unindex(state, *job);
  job->status = JobStatus::Starting;
  job->attempt += 1;
  job->node = event.node;
  job->modified_at = event.at;
  index(state, *job);
  return {.jobs = {event.job}};
}

Touched on(State& state, const JobAdvanced& event) {
  model::Job* job = find(state, event.job);
  if (job == nullptr || !holds_node(*job) || job->attempt != event.attempt) return {};
  const bool starts = progress(event.status) >= progress(JobStatus::Running) && !job->started_at;
  const bool moves = progress(event.status) > progress(job->status) && !job->cancel_requested;
  if (!starts && !moves) return {};
  if (starts) job->started_at = event.at;
  if (moves) job->status = event.status;
  job->modified_at = event.at;
  return {.jobs = {event.job}};
}

Touched on(State& state, const JobCancelRequested& event) {
  model::Job* job = find(state, event.job);
  if (job == nullptr || is_terminal(job->status) || job->cancel_requested) return {};
  unindex(state, *job);
  job->cancel_requested = true;
  job->modified_at = event.at;
  if (holds_node(*job)) {
    job->status = JobStatus::CancelRequested;
  } else {
    job->status = JobStatus::Canceled;
    job->ended_at = event.at;
  }
  index(state, *job);
  return {.jobs = {event.job}};
}

Touched on(State& state, const JobEnded& event) {
  model::Job* job = find(state, event.job);
  if (job == nullptr || !holds_node(*job) || job->attempt != event.attempt) return {};
  end(state, *job, event.outcome, event.at);
  return {.jobs = {event.job}};
}

Touched on(State& state, const JobDeleted& event) {
  const model::Job* job = find(state, event.job);
  if (job == nullptr) return {};
  unindex(state, *job);
  state.jobs.erase(event.job);
  return {.jobs = {event.job}};
}

Touched on(State& state, const NodeRequested& event) {
  const auto [place, is_new] = state.nodes.try_emplace(event.node.id, event.node);
  if (!is_new) return {};
  place->second.status = NodeStatus::Requested;
  return {.nodes = {event.node.id}};
}

Touched on(State& state, const NodeJoined& event) {
  model::Node* node = find(state, event.node);
  if (node == nullptr) return {};
  // A node that was told to leave and connects again has not heard it yet; it leaves all the same.
  if (node->status != NodeStatus::Leaving) node->status = NodeStatus::Ready;
  node->slots = event.slots;
  node->work_root = event.work_root;
  return {.nodes = {event.node}};
}

Touched on(State& state, const NodeDetached& event) {
  model::Node* node = find(state, event.node);
  if (node == nullptr || node->status != NodeStatus::Ready) return {};
  node->status = NodeStatus::Detached;
  return {.nodes = {event.node}};
}

Touched on(State& state, const NodeToldToLeave& event) {
  model::Node* node = find(state, event.node);
  if (node == nullptr || node->status == NodeStatus::Leaving) return {};
  node->status = NodeStatus::Leaving;
  return {.nodes = {event.node}};
}

Touched on(State& state, const NodeGone& event) {
  if (find(state, event.node) == nullptr) return {};
  Touched touched{.nodes = {event.node}};
  if (const auto held = state.held.find(event.node); held != state.held.end()) {
    touched.jobs = held->second;
  }
  const model::Outcome lost{.ending = model::Ending::Lost, .message = "the node is gone"};
  for (const model::JobKey& key : touched.jobs) end(state, state.jobs.at(key), lost, event.at);
  state.nodes.erase(event.node);
  return touched;
}

void check_job(const State& state, const model::Job& job) {
  const bool should_hold = progress(job.status) > 0 || job.status == JobStatus::CancelRequested;
  CHECK(should_hold == holds_node(job), "a job holds a node exactly while an attempt goes on");
  CHECK(!holds_node(job) || state.nodes.contains(job.node), "the node that a job holds exists");
  CHECK(!holds_node(job) || job.attempt >= 1, "a job that holds a node has an attempt");
  CHECK(should_hold || job.status == JobStatus::Queued || is_terminal(job.status),
        "a job waits, holds a node or is over");
  CHECK(is_terminal(job.status) == job.ended_at.has_value(),
        "exactly a job that is over has an end");
  CHECK((job.status == JobStatus::CancelRequested) == (job.cancel_requested && should_hold),
        "a job whose cancel is under way says so");
}

}  // namespace

std::string target_of(const model::JobSpec& spec) {
  return spec.compute.empty() || spec.compute == "serverless" ? kLocalTarget : spec.compute;
}

void rebuild_indexes(State& state) {
  state.queue.clear();
  state.held.clear();
  for (const auto& [key, job] : state.jobs) index(state, job);
}

Touched apply_event(State& state, const Event& event) {
  return std::visit([&](const auto& fact) { return on(state, fact); }, event);
}

void forget_ended(State& state, const std::set<model::JobKey>& jobs) {
  for (const model::JobKey& key : jobs) {
    const model::Job* job = find(state, key);
    if (job != nullptr && is_terminal(job->status)) state.jobs.erase(key);
  }
}

void check_invariants(const State& state) {
  std::set<std::int64_t> sequences;
  State rebuilt;
  for (const auto& [key, job] : state.jobs) {
    CHECK(key == job.key, "a job lies under its own key");
    CHECK(sequences.insert(job.sequence).second, "no two jobs have one sequence");
    check_job(state, job);
    index(rebuilt, job);
  }
  for (const auto& [id, node] : state.nodes) {
    CHECK(id == node.id, "a node lies under its own id");
  }
  CHECK(rebuilt.queue == state.queue, "the queue holds exactly the queued jobs");
  CHECK(rebuilt.held == state.held, "the nodes hold exactly the jobs that say so");
}

std::vector<const model::Job*> jobs_on(const State& state, const model::NodeId& node) {
  std::vector<const model::Job*> jobs;
  const auto held = state.held.find(node);
  if (held == state.held.end()) return jobs;
  for (const model::JobKey& key : held->second) jobs.push_back(&state.jobs.at(key));
  return jobs;
}

}  // namespace berth::core
