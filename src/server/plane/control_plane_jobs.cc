// SPDX-License-Identifier: Apache-2.0
// What users ask of workspaces and jobs.
#include <fmt/format.h>

#include <algorithm>

#include "base/random.h"
#include "base/text.h"
#include "core/expression.h"
#include "core/retention.h"
#include "core/schedule.h"
#include "core/workspace_rules.h"
#include "model/labels.h"
#include "server/keys/secrets.h"
#include "server/plane/references.h"
#include "server/plane/turn.h"

namespace berth::server {

using model::Compute;
using model::Job;
using model::JobKey;
using model::Workspace;
using model::WorkspaceId;

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
    workspace = TRY(core::changed_workspace(*existing, std::move(workspace)));
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

Result<Workspace> ControlPlane::set_retention(const WorkspaceId& id,
                                              const model::Retention& retention) {
  const Workspace* found = find_workspace(id);
  if (found == nullptr) return fail(Code::NotFound, "no such workspace");
  TRY(core::check_retention(retention));
  Workspace workspace = *found;
  workspace.retention = retention;
  if (retention != found->retention) apply(core::WorkspaceMade{workspace});
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
  for (const auto& [key, compute] : state_.computes) {
    if (key.workspace == workspace) {
      return fail(Code::Conflict,
                  fmt::format("workspace '{}' still has compute '{}': delete it first", found->name,
                              compute.name));
    }
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

static tl::unexpected<Error> no_job(const JobKey& key) {
  return fail(Code::NotFound, fmt::format("no job '{}' in this workspace", key.name));
}

Result<Job> ControlPlane::job(const JobKey& key) const {
  if (deleting_.contains(key) && !state_.jobs.contains(key)) return no_job(key);
  const auto live = state_.jobs.find(key);
  if (live != state_.jobs.end()) return live->second;
  std::optional<Job> finished = TRY(store_.job(key));
  if (finished) return *std::move(finished);
  return no_job(key);
}

Result<Job> ControlPlane::recorded_job(const JobKey& key) const {
  const auto touches = [&](const std::shared_ptr<Turn>& turn) {
    return turn && turn->touched.of<Job>().contains(key);
  };
  const bool is_changing = failure_ || deleting_.contains(key) || touches(turn_) ||
                           std::ranges::any_of(in_flight_, touches);
  if (!is_changing) return job(key);
  std::optional<Job> recorded = TRY(store_.job(key));
  if (recorded) return *std::move(recorded);
  return no_job(key);
}

using Labels = std::map<std::string, std::string>;

static Status check_labels(const JobKey& key, const Labels& tags, const Labels& properties,
                           const std::string& description) {
  return model::check_room(
      model::bytes_of(tags) + model::bytes_of(properties) + description.size(),
      model::kMostLabelBytes,
      fmt::format("the tags, properties and description of job '{}'", key.name));
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
  const Compute* compute = find_compute(draft.key.workspace, draft.spec.compute);
  if (compute != nullptr) draft.spec.compute = compute->name;
  TRY(check_labels(draft.key, draft.tags, draft.properties, draft.description));
  if (is_going(draft.key)) {
    return fail(Code::Unavailable,
                fmt::format("job '{}' is being deleted; try again in a moment", draft.key.name));
  }
  const Result<Job> existing = job(draft.key);
  if (existing) return resubmit(*existing, draft);
  if (existing.error().code != Code::NotFound) return fail(existing.error());

  draft.warnings = TRY(core::validate(draft.spec, choices(draft.key.workspace)));
  TRY(check_references({.store = store_, .plane = *this}, draft.key.workspace, draft.spec));
  TRY(check_secrets(store_, draft));
  draft.code_digest = TRY(
      digest_of_code({.store = store_, .plane = *this}, draft.key.workspace, draft.spec.code_id));
  draft.sequence = next_sequence_++;
  draft.created_at = draft.modified_at = clock_.now().wall;
  apply(core::JobSubmitted{draft});
  decide();
  Job accepted = state_.jobs.at(draft.key);
  flush();
  return Submitted{.job = std::move(accepted), .made = true};
}

std::vector<core::ComputeChoice> ControlPlane::choices(const WorkspaceId& workspace) const {
  std::vector<core::ComputeChoice> choices = {{.name = core::kLocalTarget}};
  for (const auto& [key, compute] : state_.computes) {
    if (key.workspace != workspace || compute.is_deleting) continue;
    core::ComputeChoice choice{.name = compute.name, .max_nodes = compute.scale.max_nodes};
    const auto site = state_.sites.find(compute.site);
    if (site != state_.sites.end()) choice.time_limit = site->second.slurm.time_limit;
    choices.push_back(std::move(choice));
  }
  return choices;
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
  relabel(existing, labels);
  return Submitted{.job = TRY(job(draft.key)), .made = false};
}

/// A finished job lives only in the store: it is brought back for as long as the change takes.
void ControlPlane::relabel(const Job& job, const core::JobRelabelled& labels) {
  const bool is_same = labels.display_name == job.display_name &&
                       labels.description == job.description && labels.tags == job.tags &&
                       labels.properties == job.properties && labels.is_archived == job.is_archived;
  if (is_same) return;
  apply(core::JobBroughtBack{job});
  apply(labels);
  flush();
}

static core::JobRelabelled labels_of(const Job& job, WallTime now) {
  return {.job = job.key,
          .display_name = job.display_name,
          .description = job.description,
          .tags = job.tags,
          .properties = job.properties,
          .is_archived = job.is_archived,
          .at = now};
}

Status ControlPlane::rename_job(const JobKey& key, const std::string& display_name) {
  const Job found = TRY(job(key));
  core::JobRelabelled labels = labels_of(found, clock_.now().wall);
  labels.display_name = display_name;
  relabel(found, labels);
  return Done{};
}

Status ControlPlane::tag_job(const JobKey& key, const std::map<std::string, std::string>& tags,
                             const std::vector<std::string>& lost) {
  const Job found = TRY(job(key));
  core::JobRelabelled labels = labels_of(found, clock_.now().wall);
  for (const auto& [name, value] : tags) labels.tags[name] = value;
  for (const std::string& name : lost) labels.tags.erase(name);
  if (!tags.empty()) TRY(check_labels(key, labels.tags, labels.properties, labels.description));
  relabel(found, labels);
  return Done{};
}

Result<Job> ControlPlane::cancel(const JobKey& key) {
  Job before = TRY(job(key));
  if (model::is_terminal(before.status)) return before;
  apply(core::JobCancelRequested{key, clock_.now().wall});
  stop_rest(key);
  decide();
  Job after = state_.jobs.at(key);
  flush();
  return after;
}

Status ControlPlane::check_deletable(const JobKey& key) const {
  const Job found = TRY(job(key));
  if (!model::is_terminal(found.status)) {
    return fail(Code::Conflict, fmt::format("job '{}' is not over; cancel it first", key.name));
  }
  if (const std::optional<JobKey> reader = core::reader_of(state_, key)) {
    return fail(Code::Conflict, fmt::format("job '{}' still reads what job '{}' left; delete it "
                                            "when that is over",
                                            reader->name, key.name));
  }
  return Done{};
}

Status ControlPlane::begin_deletion(const JobKey& key) {
  TRY(check_deletable(key));
  if (!going_.insert(key).second) {
    return fail(Code::Unavailable, fmt::format("job '{}' is being deleted already", key.name));
  }
  write({store::DropJobFiles{.job = key}, store::DropMetrics{.job = key}});
  return Done{};
}

Status ControlPlane::delete_job(const JobKey& key) {
  TRY(check_deletable(key));
  // The state forgets it when its end is on disk. A job that has just ended is deleted after that.
  if (state_.jobs.contains(key)) {
    return fail(Code::Unavailable,
                fmt::format("the end of job '{}' is being recorded; try again", key.name));
  }
  turn().batch.push_back(store::Erase<model::Job>{key});
  turn().deleted.push_back(key);
  deleting_.insert(key);
  going_.erase(key);
  flush();
  return Done{};
}

Result<std::string> ControlPlane::explain(const JobKey& key) const {
  return core::explain(state_, TRY(job(key)));
}

}  // namespace berth::server
