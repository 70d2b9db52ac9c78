// SPDX-License-Identifier: Apache-2.0
#include "server/plane/jobs_desk.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/controller.h"
#include "core/rules/compute_rules.h"
#include "core/rules/retention.h"
#include "core/schedule.h"
#include "model/compute_kind.h"
#include "model/labels.h"
#include "model/site_kind.h"
#include "server/keys/secrets.h"
#include "server/plane/references.h"

namespace berth::server {

using model::Compute;
using model::Job;
using model::JobKey;
using model::WorkspaceId;

static tl::unexpected<Error> no_job(const JobKey& key) {
  return fail(Code::NotFound, fmt::format("no job '{}' in this workspace", key.name));
}

Result<Job> JobsDesk::find(const JobKey& key) const {
  if (deleting_.contains(key) && !state_.jobs.contains(key)) return no_job(key);
  const auto live = state_.jobs.find(key);
  if (live != state_.jobs.end()) return live->second;
  std::optional<Job> finished = TRY(parts_.store.job(key));
  if (finished) return *std::move(finished);
  return no_job(key);
}

Result<Job> JobsDesk::find_recorded(const JobKey& key) const {
  const auto touches = [&](const core::Touched& touched) {
    return touched.of<model::Job>().contains(key);
  };
  const bool is_changing = deleting_.contains(key) || parts_.ledger.is_ahead(touches);
  if (!is_changing) return find(key);
  std::optional<Job> recorded = TRY(parts_.store.job(key));
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

Result<JobsDesk::Submitted> JobsDesk::submit(Job draft) {
  if (!is_resource_name(draft.key.name)) {
    return fail(
        Code::InvalidArgument,
        fmt::format("'{}' is not a job name: letters, digits, '-', '_' and '.', at most 255",
                    to_valid_utf8(draft.key.name)),
        "name");
  }
  if (draft.spec->compute.empty()) draft.spec.edit().compute = model::kLocalCompute;
  const Compute* compute = core::find_compute(state_, draft.key.workspace, draft.spec->compute);
  if (compute != nullptr) draft.spec.edit().compute = compute->name;
  TRY(check_labels(draft.key, draft.tags, draft.properties, draft.description));
  if (is_going(draft.key)) {
    return fail(Code::Unavailable,
                fmt::format("job '{}' is being deleted; try again in a moment", draft.key.name));
  }
  const Result<Job> existing = find(draft.key);
  if (existing) return resubmit(*existing, draft);
  if (existing.error().code != Code::NotFound) return fail(existing.error());

  TRY(check_family(draft));
  draft.warnings = TRY(core::validate(draft.spec, choices(draft.key.workspace)));
  const Catalogue catalogue{.store = parts_.store, .state = state_, .jobs = *this};
  TRY(check_references(catalogue, draft.key.workspace, draft.spec));
  TRY(check_secrets(parts_.store, draft));
  draft.code_digest =
      TRY(digest_of_code(catalogue, draft.key.workspace, command_of(draft.spec).code_id));
  draft.sequence = parts_.decider.next_job_sequence();
  draft.created_at = draft.modified_at = parts_.clock.now().wall;
  parts_.ledger.apply(core::JobSubmitted{draft});
  parts_.decider.decide();
  Job accepted = state_.jobs.at(draft.key);
  parts_.ledger.flush();
  return Submitted{.job = std::move(accepted), .made = true};
}

static core::ComputeChoice choice_of(const core::State& state, const Compute& compute) {
  core::ComputeChoice choice{.name = compute.name,
                             .is_one_machine = model::traits_of(compute).is_one_machine};
  if (const model::Cluster* cluster = cluster_in(&compute)) {
    choice.max_nodes = cluster->scale.max_nodes;
  }
  const auto site = state.sites.find(compute.site);
  if (site != state.sites.end()) choice.time_limit = model::time_limit_of(site->second);
  return choice;
}

/// A parent that makes its children itself shares their names and their parenthood with nobody.
Status JobsDesk::check_family(const Job& draft) const {
  if (const Job* parent = core::controlling_parent(state_, draft)) {
    return fail(
        Code::Conflict,
        fmt::format("job '{}' makes its jobs itself; choose another {}", parent->key.name,
                    draft.spec->parent_job_name == parent->key.name ? "parent_job_name" : "name"));
  }
  const auto* array = std::get_if<model::ArrayWork>(&draft.spec->work);
  if (array == nullptr) return Done{};
  if (const auto others = state_.children.find(draft.key); others != state_.children.end()) {
    return fail(Code::Conflict, fmt::format("job '{}' names '{}' as its parent already",
                                            others->second.begin()->name, draft.key.name));
  }
  const int length = std::min(core::length_of(*array), core::kLongestArray);
  for (int nth = 0; nth < length; ++nth) {
    const JobKey child = core::child_key(draft.key, array->first + nth);
    if (!is_resource_name(child.name)) {
      return fail(Code::InvalidArgument,
                  fmt::format("'{}' is too long a name for an array", draft.key.name), "name");
    }
    const Result<Job> taken = find(child);
    if (taken || is_going(child)) {
      return fail(Code::Conflict, fmt::format("there is a job '{}', which would be the name of one "
                                              "of the array",
                                              child.name));
    }
    if (taken.error().code != Code::NotFound) return fail(taken.error());
  }
  return Done{};
}

std::vector<core::ComputeChoice> JobsDesk::choices(const WorkspaceId& workspace) const {
  std::vector<core::ComputeChoice> choices = {choice_of(state_, state_.settings.local)};
  for (const auto& [key, compute] : state_.computes) {
    if (key.workspace != workspace || compute.is_deleting) continue;
    choices.push_back(choice_of(state_, compute));
  }
  return choices;
}

/// The same name again. A repeat is answered with what is there; labels may change, the work not.
Result<JobsDesk::Submitted> JobsDesk::resubmit(const Job& existing, const Job& draft) {
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
                             .at = parts_.clock.now().wall};
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
  return Submitted{.job = TRY(find(draft.key)), .made = false};
}

/// A finished job lives only in the store: it is brought back for as long as the change takes.
void JobsDesk::relabel(const Job& job, const core::JobRelabelled& labels) {
  const bool is_same = labels.display_name == job.display_name &&
                       labels.description == job.description && labels.tags == job.tags &&
                       labels.properties == job.properties && labels.is_archived == job.is_archived;
  if (is_same) return;
  if (!state_.jobs.contains(job.key)) parts_.ledger.apply(core::JobBroughtBack{job});
  parts_.ledger.apply(labels);
  parts_.ledger.flush();
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

Status JobsDesk::rename(const JobKey& key, const std::string& display_name) {
  const Job found = TRY(find(key));
  core::JobRelabelled labels = labels_of(found, parts_.clock.now().wall);
  labels.display_name = display_name;
  relabel(found, labels);
  return Done{};
}

Status JobsDesk::tag(const JobKey& key, const std::map<std::string, std::string>& tags,
                     const std::vector<std::string>& lost) {
  const Job found = TRY(find(key));
  core::JobRelabelled labels = labels_of(found, parts_.clock.now().wall);
  for (const auto& [name, value] : tags) labels.tags[name] = value;
  for (const std::string& name : lost) labels.tags.erase(name);
  if (!tags.empty()) TRY(check_labels(key, labels.tags, labels.properties, labels.description));
  relabel(found, labels);
  return Done{};
}

Result<Job> JobsDesk::cancel(const JobKey& key) {
  Job before = TRY(find(key));
  if (model::is_terminal(before.status)) return before;
  parts_.ledger.apply(core::JobCancelRequested{key, parts_.clock.now().wall});
  parts_.decider.stop_rest(key);
  parts_.decider.decide();
  Job after = state_.jobs.at(key);
  parts_.ledger.flush();
  return after;
}

Status JobsDesk::check_removable(const JobKey& key) const {
  const Job found = TRY(find(key));
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

Status JobsDesk::begin_removal(const JobKey& key) {
  TRY(check_removable(key));
  if (!going_.insert(key).second) {
    return fail(Code::Unavailable, fmt::format("job '{}' is being deleted already", key.name));
  }
  parts_.ledger.write({store::DropJobFiles{.job = key}, store::DropMetrics{.job = key}});
  return Done{};
}

Status JobsDesk::remove(const JobKey& key) {
  TRY(check_removable(key));
  // The state forgets it when its end is on disk. A job that has just ended is deleted after that.
  if (state_.jobs.contains(key)) {
    return fail(Code::Unavailable,
                fmt::format("the end of job '{}' is being recorded; try again", key.name));
  }
  deleting_.insert(key);
  going_.erase(key);
  parts_.ledger.write({store::Erase<model::Job>{key}});
  // The disk knows of it then, or never will.
  parts_.ledger.when_durable([this, key](const Status&) {
    const auto found = deleting_.find(key);
    if (found != deleting_.end()) deleting_.erase(found);
  });
  return Done{};
}

Result<std::string> JobsDesk::explain(const JobKey& key) const {
  return core::explain(state_, TRY(find(key)));
}

}  // namespace berth::server
