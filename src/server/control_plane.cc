// SPDX-License-Identifier: Apache-2.0
#include "server/control_plane.h"

#include "base/check.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "core/expression.h"
#include "core/schedule.h"
#include "server/job_outputs.h"
#include "server/references.h"

namespace berth::server {

using core::State;
using model::Job;
using model::JobKey;
using model::JobStatus;
using model::Node;
using model::NodeId;
using model::NodeStatus;
using model::Workspace;
using model::WorkspaceId;

/// One batch on its way to disk, and what waits for it.
struct ControlPlane::Turn {
  store::Batch batch;
  core::Touched touched;
  std::set<JobKey> ended;
  std::vector<std::function<void()>> effects;
  std::vector<std::function<void(Status)>> waiters;
};

ControlPlane::ControlPlane(store::Store& store, Effects& effects, const Clock& clock,
                           PlaneOptions options)
    : store_(store), effects_(effects), clock_(clock), options_(options) {}

ControlPlane::~ControlPlane() = default;

Status ControlPlane::start() {
  reload();
  if (failure_) return fail(*failure_);
  next_sequence_ = TRY(store_.last_sequence()) + 1;
  if (state_.workspaces.empty()) {
    TRY(put_workspace({.name = model::kDefaultWorkspace, .display_name = "Default workspace"}));
  }
  decide();
  flush();
  return Done{};
}

// ---- Recording ---------------------------------------------------------------------------------

ControlPlane::Turn& ControlPlane::turn() {
  if (!turn_) turn_ = std::make_shared<Turn>();
  return *turn_;
}

void ControlPlane::apply(const core::Event& event) {
  core::Touched touched = core::apply_event(state_, event);
  turn().touched.workspaces.merge(touched.workspaces);
  turn().touched.jobs.merge(touched.jobs);
  turn().touched.nodes.merge(touched.nodes);
}

/// Rows of everything touched, as it is now; what is gone from the state is deleted.
static void add_rows(const State& state, const core::Touched& touched, store::Batch& batch) {
  for (const WorkspaceId& id : touched.workspaces) {
    const auto found = state.workspaces.find(id);
    if (found == state.workspaces.end()) {
      batch.push_back(store::DeleteWorkspace{id});
    } else {
      batch.push_back(store::PutWorkspace{found->second});
    }
  }
  for (const JobKey& key : touched.jobs) {
    const auto found = state.jobs.find(key);
    if (found == state.jobs.end()) {
      batch.push_back(store::DeleteJob{key});
    } else {
      batch.push_back(store::PutJob{found->second});
    }
  }
  for (const NodeId& id : touched.nodes) {
    const auto found = state.nodes.find(id);
    if (found == state.nodes.end()) {
      batch.push_back(store::DeleteNode{id});
    } else {
      batch.push_back(store::PutNode{found->second});
    }
  }
}

void ControlPlane::flush() {
  if (!turn_) return;
  std::shared_ptr<Turn> going = std::move(turn_);
  turn_.reset();
  if (failure_) {
    // It rests on changes that never happened. The state is loaded again as soon as the last of
    // those has come back, and under load more must not be added to them for ever.
    for (const auto& waiter : going->waiters) waiter(fail(*failure_));
    return;
  }
  add_rows(state_, going->touched, going->batch);
  for (const JobKey& key : going->touched.jobs) {
    const auto found = state_.jobs.find(key);
    if (found != state_.jobs.end() && model::is_terminal(found->second.status)) {
      going->ended.insert(key);
    }
  }
  in_flight_.push_back(going);
  store_.commit(std::move(going->batch),
                [this, going](const Status& status) { committed(going, status); });
}

void ControlPlane::committed(const std::shared_ptr<Turn>& turn, const Status& status) {
  CHECK(!in_flight_.empty() && in_flight_.front() == turn, "commits come back in order");
  in_flight_.pop_front();
  if (status) {
    core::forget_ended(state_, turn->ended);
    act(*turn);
  } else {
    failure_ = status.error();
    log::error("a change could not be recorded and was undone: {}", status.error().message);
  }
  if (failure_ && in_flight_.empty()) reload();
  for (const auto& waiter : turn->waiters) waiter(status);
}

void ControlPlane::act(const Turn& turn) {
  for (const auto& effect : turn.effects) effect();
  for (const JobKey& key : turn.touched.jobs) effects_.job_changed(key);
}

/// The disk is right and memory may not be: take the disk's word. Nothing is decided here, because
/// with a full disk that would fail again at once; tick() goes on.
void ControlPlane::reload() {
  Result<State> loaded = store_.load();
  if (!loaded) {
    log::error("the state could not be loaded: {}", loaded.error().message);
    failure_ = loaded.error();
    return;
  }
  const bool after_failure = failure_.has_value();
  failure_.reset();
  turn_.reset();
  state_ = std::move(*loaded);
  for (auto& [id, node] : state_.nodes) {
    if (node.status == NodeStatus::Ready) node.status = NodeStatus::Detached;
  }
  store_.resume();
  if (after_failure) effects_.resynchronise();
}

void ControlPlane::write(store::Batch batch) {
  for (store::Write& row : batch) turn().batch.push_back(std::move(row));
  flush();
}

void ControlPlane::when_durable(std::function<void(Status)> done) {
  if (failure_) {
    done(fail(*failure_));
  } else if (turn_) {
    turn_->waiters.push_back(std::move(done));
    flush();
  } else if (!in_flight_.empty()) {
    in_flight_.back()->waiters.push_back(std::move(done));
  } else {
    done(Done{});
  }
}

// ---- Deciding ----------------------------------------------------------------------------------

void ControlPlane::decide() {
  const core::Plan plan = core::plan(state_, options_.local_slots, clock_.now().wall);
  for (const Node& node : plan.request) {
    apply(core::NodeRequested{node});
    turn().effects.push_back([this, node] { effects_.start_node(node); });
  }
  for (const core::JobPlaced& placed : plan.place) {
    apply(placed);
    turn().effects.push_back([this, key = placed.job, node = placed.node] {
      const auto job = state_.jobs.find(key);
      const auto where = state_.nodes.find(node);
      if (job == state_.jobs.end() || where == state_.nodes.end()) return;
      if (job->second.node == node) effects_.launch(job->second, where->second);
    });
  }
}

void ControlPlane::tick() {
  if (failure_ && in_flight_.empty()) reload();
  const TimePoint now = clock_.now().mono;
  for (const auto& [id, node] : state_.nodes) {
    if (node.status != NodeStatus::Ready || !core::jobs_on(state_, id).empty()) {
      idle_since_.erase(id);
    } else if (!idle_since_.contains(id)) {
      idle_since_[id] = now;
    }
  }
  std::erase_if(idle_since_,
                [this](const auto& entry) { return !state_.nodes.contains(entry.first); });
  for (const auto& [id, since] : idle_since_) {
    if (now - since < options_.node_idle) continue;
    apply(core::NodeToldToLeave{id});
    turn().effects.push_back([this, node = id] { effects_.dismiss_node(node); });
  }
  decide();
  flush();
}

// ---- Workspaces --------------------------------------------------------------------------------

const Workspace* ControlPlane::find_workspace(std::string_view subscription, std::string_view group,
                                              std::string_view name) const {
  for (const auto& [id, workspace] : state_.workspaces) {
    if (equals_ignoring_case(workspace.name, name) &&
        equals_ignoring_case(workspace.resource_group, group) &&
        equals_ignoring_case(workspace.subscription, subscription)) {
      return &workspace;
    }
  }
  return nullptr;
}

const Workspace* ControlPlane::find_workspace(const WorkspaceId& id) const {
  const auto found = state_.workspaces.find(id);
  return found == state_.workspaces.end() ? nullptr : &found->second;
}

Result<Workspace> ControlPlane::put_workspace(Workspace workspace) {
  const Workspace* existing =
      find_workspace(workspace.subscription, workspace.resource_group, workspace.name);
  if (existing != nullptr) {
    workspace.id = existing->id;
    workspace.name = existing->name;
    workspace.created_at = existing->created_at;
  } else {
    if (!is_resource_name(workspace.name)) {
      return fail(Code::InvalidArgument,
                  fmt::format("'{}' is not a workspace name", workspace.name), "name");
    }
    workspace.id = {random_uuid()};
    workspace.created_at = clock_.now().wall;
  }
  apply(core::WorkspaceMade{workspace});
  flush();
  return workspace;
}

Status ControlPlane::delete_workspace(const WorkspaceId& workspace) {
  const Workspace* found = find_workspace(workspace);
  if (found == nullptr) return Done{};
  if (found->name == model::kDefaultWorkspace &&
      found->resource_group == model::kDefaultResourceGroup) {
    return fail(Code::Conflict, "the default workspace cannot be deleted");
  }
  for (const auto& [key, job] : state_.jobs) {
    if (key.workspace == workspace && !model::is_terminal(job.status)) {
      return fail(Code::Conflict,
                  fmt::format("workspace '{}' still has work: cancel job '{}' first", found->name,
                              key.name));
    }
  }
  apply(core::WorkspaceDeleted{workspace});
  flush();
  return Done{};
}

// ---- Jobs, as users see them -------------------------------------------------------------------

Result<Job> ControlPlane::job(const JobKey& key) const {
  const auto live = state_.jobs.find(key);
  if (live != state_.jobs.end()) return live->second;
  std::optional<Job> finished = TRY(store_.job(key));
  if (finished) return *std::move(finished);
  return fail(Code::NotFound, fmt::format("no job '{}' in this workspace", key.name));
}

Result<ControlPlane::Submitted> ControlPlane::submit(Job draft) {
  if (!is_resource_name(draft.key.name)) {
    return fail(
        Code::InvalidArgument,
        fmt::format("'{}' is not a job name: letters, digits, '-', '_' and '.', at most 255",
                    to_valid_utf8(draft.key.name)),
        "name");
  }
  if (draft.spec.compute.empty()) draft.spec.compute = core::kLocalTarget;
  const Result<Job> existing = job(draft.key);
  if (existing) return resubmit(*existing, draft);
  if (existing.error().code != Code::NotFound) return fail(existing.error());

  const std::string targets[] = {core::kLocalTarget};
  draft.warnings = TRY(core::validate(draft.spec, targets));
  TRY(check_references({.store = store_, .plane = *this}, draft.key.workspace, draft.spec));
  draft.sequence = next_sequence_++;
  draft.created_at = draft.modified_at = clock_.now().wall;
  apply(core::JobSubmitted{draft});
  decide();
  Job accepted = state_.jobs.at(draft.key);
  flush();
  return Submitted{.job = std::move(accepted), .made = true};
}

/// The same name again. A repeat is answered with what is there; labels may change, the work not.
Result<ControlPlane::Submitted> ControlPlane::resubmit(const Job& existing, const Job& draft) {
  if (!(existing.spec == draft.spec)) {
    return fail(Code::Conflict,
                fmt::format("job '{}' exists and asks for something else; choose another name",
                            draft.key.name));
  }
  core::JobRelabelled labels{.job = draft.key,
                             .display_name = draft.display_name,
                             .description = draft.description,
                             .tags = draft.tags,
                             .properties = existing.properties,
                             .is_archived = draft.is_archived,
                             .at = clock_.now().wall};
  if (labels.display_name.empty()) labels.display_name = existing.display_name;
  for (const auto& [name, value] : draft.properties) {
    const auto [entry, added] = labels.properties.try_emplace(name, value);
    if (!added && entry->second != value) {
      return fail(Code::Conflict,
                  fmt::format("property '{}' of job '{}' has a value already; properties can be "
                              "added, not changed",
                              name, draft.key.name));
    }
  }
  const bool same = labels.display_name == existing.display_name &&
                    labels.description == existing.description && labels.tags == existing.tags &&
                    labels.properties == existing.properties &&
                    labels.is_archived == existing.is_archived;
  if (!same && state_.jobs.contains(draft.key)) {
    apply(labels);
    flush();
  } else if (!same) {
    relabel_finished(existing, labels);
  }
  return Submitted{.job = TRY(job(draft.key)), .made = false};
}

/// A finished job lives only in the store: bring it back for as long as the change takes.
void ControlPlane::relabel_finished(Job job, const core::JobRelabelled& labels) {
  const JobKey key = job.key;
  state_.jobs.emplace(key, std::move(job));
  apply(labels);
  flush();
}

Result<Job> ControlPlane::cancel(const JobKey& key) {
  Job before = TRY(job(key));
  if (model::is_terminal(before.status)) return before;
  apply(core::JobCancelRequested{key, clock_.now().wall});
  if (!before.node.text.empty()) {
    turn().effects.push_back([this, key, attempt = before.attempt, node = before.node] {
      effects_.stop(key, attempt, node);
    });
  }
  decide();
  Job after = state_.jobs.at(key);
  flush();
  return after;
}

Status ControlPlane::delete_job(const JobKey& key) {
  const Job found = TRY(job(key));
  if (!model::is_terminal(found.status)) {
    return fail(Code::Conflict, fmt::format("job '{}' is not over; cancel it first", key.name));
  }
  turn().batch.push_back(store::DeleteJob{key});
  flush();
  return Done{};
}

Result<std::string> ControlPlane::explain(const JobKey& key) const {
  return core::explain(state_, TRY(job(key)), options_.local_slots);
}

// ---- What nodes report -------------------------------------------------------------------------

bool ControlPlane::holds(const NodeId& node, const JobKey& job, int attempt) const {
  const auto found = state_.jobs.find(job);
  return found != state_.jobs.end() && found->second.node == node &&
         found->second.attempt == attempt;
}

Status ControlPlane::node_joined(const NodeId& node, int slots, const std::string& work_root,
                                 const std::vector<Held>& held) {
  if (!state_.nodes.contains(node)) {
    return fail(Code::NotFound, fmt::format("node '{}' is not expected here", node.text));
  }
  apply(core::NodeJoined{node, slots, work_root});
  for (const Job* job : core::jobs_on(state_, node)) launch_or_settle(*job, held);
  for (const Held& attempt : held) {
    if (holds(node, attempt.job, attempt.attempt)) continue;
    turn().effects.push_back([this, attempt, node] {
      if (!holds(node, attempt.job, attempt.attempt)) {
        effects_.stop(attempt.job, attempt.attempt, node);
      }
    });
  }
  decide();
  flush();
  return Done{};
}

/// A job that should be on a node that has just said what it has.
void ControlPlane::launch_or_settle(const Job& job, const std::vector<Held>& held) {
  const bool is_there = std::ranges::any_of(held, [&](const Held& attempt) {
    return attempt.job == job.key && attempt.attempt == job.attempt;
  });
  const bool was_begun = job.status != JobStatus::Starting &&
                         !(job.status == JobStatus::CancelRequested && !job.started_at);
  if (!is_there && was_begun) {
    apply(core::JobEnded{
        .job = job.key,
        .attempt = job.attempt,
        .outcome = {.ending = model::Ending::Lost, .message = "its node came back without it"},
        .at = clock_.now().wall});
    return;
  }
  turn().effects.push_back([this, key = job.key, node = job.node] {
    const auto found = state_.jobs.find(key);
    const auto where = state_.nodes.find(node);
    if (found == state_.jobs.end() || where == state_.nodes.end()) return;
    effects_.launch(found->second, where->second);
    if (found->second.cancel_requested) effects_.stop(key, found->second.attempt, node);
  });
}

void ControlPlane::node_detached(const NodeId& node) {
  apply(core::NodeDetached{node});
  flush();
}

void ControlPlane::node_gone(const NodeId& node) {
  apply(core::NodeGone{node, clock_.now().wall});
  decide();
  flush();
}

void ControlPlane::job_advanced(const NodeId& node, const Held& attempt, JobStatus status) {
  if (!holds(node, attempt.job, attempt.attempt)) return;
  apply(core::JobAdvanced{attempt.job, attempt.attempt, status, clock_.now().wall});
  flush();
}

void ControlPlane::job_ended(const NodeId& node, const Held& attempt, model::Outcome outcome,
                             store::Batch more) {
  const auto found = state_.jobs.find(attempt.job);
  const bool is_stale = found == state_.jobs.end() || found->second.attempt != attempt.attempt;
  if (is_stale) {
    effects_.forget(attempt.job, attempt.attempt, node);
    return;
  }
  if (!holds(node, attempt.job, attempt.attempt)) return;  // Its end is on its way to disk.
  apply(core::JobEnded{attempt.job, attempt.attempt, std::move(outcome), clock_.now().wall});
  Job& job = found->second;
  if (job.status == JobStatus::Completed) {
    for (store::Write& row : register_outputs(store_, job, clock_.now().wall)) {
      more.push_back(std::move(row));
    }
  }
  for (store::Write& row : more) turn().batch.push_back(std::move(row));
  turn().effects.push_back(
      [this, attempt, node] { effects_.forget(attempt.job, attempt.attempt, node); });
  decide();
  flush();
}

}  // namespace berth::server
