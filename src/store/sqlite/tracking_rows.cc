// SPDX-License-Identifier: Apache-2.0
// Experiments and runs. What is logged to them is in tracking_log_rows.cc.
#include "store/sqlite/tracking_rows.h"

#include "base/random.h"
#include "store/tracking_names.h"

namespace berth::store {
namespace {

std::int64_t number(bool flag) { return flag ? 1 : 0; }
std::int64_t milliseconds(WallTime time) { return time.time_since_epoch().count(); }

/// Tags of ours that jobs carry as properties: where their code came from.
bool is_shown_as_tag(std::string_view property) { return property.starts_with("mlflow."); }

model::Run run_of(const model::Job& job) {
  return {.key = job.key,
          .name = job.display_name.empty() ? job.key.name : job.display_name,
          .user = job.created_by,
          .status = model::run_status_of(job.status),
          .started_at = job.started_at.value_or(job.created_at),
          .ended_at = job.ended_at,
          .is_job = true};
}

}  // namespace

Status TrackingRows::write(const TrackingChange& change) {
  return std::visit([&](const auto& each) { return put(each); }, change);
}

// ---- Jobs ---------------------------------------------------------------------------------------

/// The id of the experiment that the job names. It is made when there is none, and comes back when
/// it was deleted.
Result<std::string> TrackingRows::experiment_of(const model::Job& job) {
  const std::string& workspace = job.key.workspace.text;
  const std::string& name = job.spec->experiment_name;
  bool is_deleted = false;
  std::string id;
  {
    Cursor row = TRY(database_.query(
        "SELECT id, deleted FROM experiments WHERE workspace = ? AND name = ?", {workspace, name}));
    if (TRY(row.next())) {
      id = row.text(0);
      is_deleted = row.integer(1) != 0;
    }
  }
  if (is_deleted) {
    TRY(database_.run("UPDATE experiments SET deleted = 0 WHERE workspace = ? AND id = ?",
                      {workspace, id}));
  }
  if (!id.empty()) return id;
  id = new_experiment_id();
  TRY(put(PutExperiment{{.workspace = job.key.workspace,
                         .id = id,
                         .name = name,
                         .created_at = job.created_at,
                         .updated_at = job.created_at}}));
  return id;
}

Status TrackingRows::job_made(const model::Job& job) {
  model::Run run = run_of(job);
  run.experiment = TRY(experiment_of(job));
  TRY(insert_run(run));
  model::TagMap tags = job.tags;
  for (const auto& [name, value] : job.properties) {
    if (is_shown_as_tag(name)) tags.emplace(name, value);
  }
  if (!job.spec->parent_job_name.empty()) tags.emplace(kParentTag, job.spec->parent_job_name);
  if (tags.empty()) return Done{};
  return set_tags(job.key, TRY(number_of(job.key)), tags);
}

Status TrackingRows::job_changed(const model::Job& job, bool was_live) {
  const model::Run run = run_of(job);
  if (!was_live) return put(ChangeRun{.run = run.key, .name = run.name});
  const std::int64_t ended_at = run.ended_at ? milliseconds(*run.ended_at) : 0;
  const std::string_view status = model::text_of(run.status);
  const std::int64_t started_at = milliseconds(run.started_at);
  return database_.run(
      "UPDATE runs SET name = ?, status = ?, started_at = ?, ended_at = nullif(?, 0) "
      "WHERE workspace = ? AND id = ? AND (name <> ? OR status <> ? OR started_at <> ? OR "
      "ended_at IS NOT nullif(?, 0))",
      {run.name, status, started_at, ended_at, run.key.workspace.text, run.key.name, run.name,
       status, started_at, ended_at});
}

Status TrackingRows::job_tagged(const model::Job& job, const model::TagMap& old_tags) {
  const std::int64_t run = TRY(number_of(job.key));
  if (run == 0) return Done{};
  for (const auto& [key, value] : old_tags) {
    if (job.tags.contains(key)) continue;
    TRY(database_.run("DELETE FROM run_tags WHERE run = ? AND key = ?", {run, key}));
  }
  for (const auto& [key, value] : job.tags) {
    const auto old = old_tags.find(key);
    if (old != old_tags.end() && old->second == value) continue;
    TRY(set_tag(job.key, run, key, value));
  }
  return Done{};
}

Status TrackingRows::job_deleted(const model::JobKey& job) {
  const std::int64_t run = TRY(number_of(job));
  if (run == 0) return Done{};
  for (const std::string_view sql :
       {"DELETE FROM run_tags WHERE run = ?", "DELETE FROM run_params WHERE run = ?",
        "DELETE FROM metric_points WHERE run = ?", "DELETE FROM latest_metrics WHERE run = ?",
        "DELETE FROM run_datasets WHERE run = ?", "DELETE FROM run_models WHERE run = ?",
        "DELETE FROM runs WHERE number = ?"}) {
    TRY(database_.run(sql, {run}));
  }
  return Done{};
}

Status TrackingRows::drop_metrics(const model::JobKey& job, std::size_t limit) {
  const std::int64_t run = TRY(number_of(job));
  return database_.run(
      "DELETE FROM metric_points WHERE (run, key, timestamp, step, value, nan) IN "
      "(SELECT run, key, timestamp, step, value, nan FROM metric_points WHERE run = ? LIMIT ?)",
      {run, static_cast<std::int64_t>(limit)});
}

Status TrackingRows::drop_logged_model(std::int64_t model) {
  for (const std::string_view sql : {"DELETE FROM logged_model_tags WHERE model = ?",
                                     "DELETE FROM logged_model_params WHERE model = ?",
                                     "DELETE FROM logged_model_metrics WHERE model = ?",
                                     "DELETE FROM logged_models WHERE number = ?"}) {
    TRY(database_.run(sql, {model}));
  }
  return Done{};
}

// ---- Workspaces ---------------------------------------------------------------------------------

Status TrackingRows::workspace_made(const model::Workspace& workspace) {
  const std::int64_t at = milliseconds(workspace.created_at);
  return database_.run(
      "INSERT OR IGNORE INTO experiments (workspace, id, name, artifact_location, deleted, "
      "created_at, updated_at) VALUES (?, ?, ?, '', 0, ?, ?)",
      {workspace.id.text, model::kDefaultExperimentId, model::kDefaultExperiment, at, at});
}

Status TrackingRows::workspace_deleted(const model::WorkspaceId& workspace) {
  for (const char* table : {"run_tags", "run_params", "metric_points", "latest_metrics",
                            "run_datasets", "run_models"}) {
    TRY(database_.run(
        fmt::format("DELETE FROM {} WHERE run IN (SELECT number FROM runs WHERE workspace = ?)",
                    table),
        {workspace.text}));
  }
  for (const char* table : {"logged_model_tags", "logged_model_params", "logged_model_metrics"}) {
    TRY(database_.run(
        fmt::format(
            "DELETE FROM {} WHERE model IN (SELECT number FROM logged_models WHERE workspace = ?)",
            table),
        {workspace.text}));
  }
  for (const char* table : {"runs", "logged_models", "experiment_tags", "experiments"}) {
    TRY(database_.run(fmt::format("DELETE FROM {} WHERE workspace = ?", table), {workspace.text}));
  }
  return Done{};
}

// ---- Experiments --------------------------------------------------------------------------------

Status TrackingRows::put(const PutExperiment& change) {
  const model::Experiment& made = change.experiment;
  TRY(database_.run(
      "INSERT INTO experiments (workspace, id, name, artifact_location, deleted, created_at, "
      "updated_at, maker) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, id) DO UPDATE "
      "SET name = excluded.name, updated_at = excluded.updated_at",
      {made.workspace.text, made.id, made.name, made.artifact_location, number(made.is_deleted),
       milliseconds(made.created_at), milliseconds(made.updated_at), made.made_by}));
  for (const auto& [key, value] : made.tags) {
    TRY(
        database_.run("INSERT OR REPLACE INTO experiment_tags (workspace, experiment, key, value) "
                      "VALUES (?, ?, ?, ?)",
                      {made.workspace.text, made.id, key, value}));
  }
  return Done{};
}

Status TrackingRows::put(const TagExperiment& change) {
  const std::string& workspace = change.workspace.text;
  if (change.value) {
    TRY(
        database_.run("INSERT OR REPLACE INTO experiment_tags (workspace, experiment, key, value) "
                      "VALUES (?, ?, ?, ?)",
                      {workspace, change.experiment, change.key, *change.value}));
  } else {
    TRY(database_.run(
        "DELETE FROM experiment_tags WHERE workspace = ? AND experiment = ? AND key = ?",
        {workspace, change.experiment, change.key}));
  }
  return database_.run("UPDATE experiments SET updated_at = ? WHERE workspace = ? AND id = ?",
                       {milliseconds(change.at), workspace, change.experiment});
}

Status TrackingRows::put(const MarkExperiment& change) {
  const std::int64_t mark = number(change.is_deleted);
  TRY(database_.run(
      "UPDATE experiments SET deleted = ?, updated_at = ? WHERE workspace = ? AND id = ?",
      {mark, milliseconds(change.at), change.workspace.text, change.experiment}));
  return database_.run(
      "UPDATE runs SET deleted = ? WHERE workspace = ? AND experiment = ? AND deleted <> ?",
      {mark, change.workspace.text, change.experiment, mark});
}

// ---- Runs ---------------------------------------------------------------------------------------

Result<std::int64_t> TrackingRows::number_of(const model::RunKey& run) {
  return database_.integer("SELECT number FROM runs WHERE workspace = ? AND id = ?",
                           {run.workspace.text, run.name});
}

/// A job may be given the name of a run that is there: it becomes the job's.
Status TrackingRows::insert_run(const model::Run& run) {
  return database_.run(
      "INSERT INTO runs (workspace, id, experiment, name, user, status, started_at, ended_at, "
      "deleted, job, maker) VALUES (?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?, ?, ?) "
      "ON CONFLICT (workspace, id) DO UPDATE SET experiment = excluded.experiment, "
      "name = excluded.name, user = excluded.user, status = excluded.status, "
      "started_at = excluded.started_at, ended_at = excluded.ended_at, deleted = 0, "
      "job = excluded.job, maker = excluded.maker",
      {run.key.workspace.text, run.key.name, run.experiment, run.name, run.user,
       model::text_of(run.status), milliseconds(run.started_at),
       run.ended_at ? milliseconds(*run.ended_at) : 0, number(run.is_deleted), number(run.is_job),
       run.made_by});
}

Status TrackingRows::put(const PutRun& change) {
  TRY(insert_run(change.run));
  if (change.tags.empty()) return Done{};
  return set_tags(change.run.key, TRY(number_of(change.run.key)), change.tags);
}

Status TrackingRows::put(const ChangeRun& change) {
  const std::int64_t run = TRY(number_of(change.run));
  if (change.name) {
    TRY(database_.run("UPDATE runs SET name = ? WHERE number = ?", {*change.name, run}));
  }
  if (change.status) {
    TRY(database_.run("UPDATE runs SET status = ? WHERE number = ?",
                      {model::text_of(*change.status), run}));
  }
  if (change.ended_at) {
    TRY(database_.run("UPDATE runs SET ended_at = nullif(?, 0) WHERE number = ?",
                      {milliseconds(*change.ended_at), run}));
  }
  if (change.is_deleted) {
    TRY(database_.run("UPDATE runs SET deleted = ? WHERE number = ?",
                      {number(*change.is_deleted), run}));
  }
  return Done{};
}

}  // namespace berth::store
