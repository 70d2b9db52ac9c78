// SPDX-License-Identifier: Apache-2.0
// What is logged to runs and models.
#include <cmath>

#include "store/sqlite/documents.h"
#include "store/sqlite/tracking_rows.h"
#include "store/tracking_names.h"

namespace berth::store {
namespace {

std::int64_t number(bool flag) { return flag ? 1 : 0; }
std::int64_t milliseconds(WallTime time) { return time.time_since_epoch().count(); }

/// SQLite has no NaN: it is kept as a 0 that is marked.
double stored(double value) { return std::isnan(value) ? 0 : value; }

}  // namespace

Status TrackingRows::put(const LogToRun& change) {
  const std::int64_t run = TRY(number_of(change.run));
  if (run == 0) return Done{};
  for (const model::Metric& metric : change.metrics) {
    TRY(add_metric(run, metric));
    if (metric.model_id.empty()) continue;
    const std::int64_t model = TRY(number_of_model(change.run.workspace, metric.model_id));
    if (model != 0) TRY(add_model_metric(model, change.run, metric));
  }
  for (const auto& [key, value] : change.params) {
    TRY(database_.run("INSERT OR IGNORE INTO run_params (run, key, value) VALUES (?, ?, ?)",
                      {run, key, value}));
  }
  TRY(set_tags(change.run, run, change.tags));
  for (const std::string& key : change.lost_tags) {
    TRY(database_.run("DELETE FROM run_tags WHERE run = ? AND key = ?", {run, key}));
  }
  return add_inputs(run, change);
}

Status TrackingRows::add_metric(std::int64_t run, const model::Metric& metric) {
  const double value = stored(metric.value);
  const std::int64_t nan = number(std::isnan(metric.value));
  TRY(
      database_.run("INSERT OR IGNORE INTO metric_points (run, key, timestamp, step, value, nan) "
                    "VALUES (?, ?, ?, ?, ?, ?)",
                    {run, metric.key, metric.timestamp, metric.step, value, nan}));
  return database_.run(
      "INSERT INTO latest_metrics (run, key, timestamp, step, value, nan) "
      "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (run, key) DO UPDATE "
      "SET timestamp = excluded.timestamp, step = excluded.step, value = excluded.value, "
      "nan = excluded.nan WHERE (excluded.step, excluded.timestamp, excluded.value) > "
      "(latest_metrics.step, latest_metrics.timestamp, latest_metrics.value)",
      {run, metric.key, metric.timestamp, metric.step, value, nan});
}

Status TrackingRows::add_model_metric(std::int64_t model, const model::RunKey& run,
                                      const model::Metric& metric) {
  return database_.run(
      "INSERT OR IGNORE INTO logged_model_metrics (model, key, timestamp, step, run, value, nan, "
      "dataset_name, dataset_digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {model, metric.key, metric.timestamp, metric.step, run.name, stored(metric.value),
       number(std::isnan(metric.value)), metric.dataset_name, metric.dataset_digest});
}

Status TrackingRows::set_tag(const model::RunKey& key, std::int64_t run, const std::string& tag,
                             const std::string& value) {
  if (tag == kNameTag) return put(ChangeRun{.run = key, .name = value});
  if (tag == kUserTag) {
    return database_.run("UPDATE runs SET user = ? WHERE number = ?", {value, run});
  }
  return database_.run("INSERT OR REPLACE INTO run_tags (run, key, value) VALUES (?, ?, ?)",
                       {run, tag, value});
}

Status TrackingRows::set_tags(const model::RunKey& key, std::int64_t run,
                              const model::TagMap& tags) {
  for (const auto& [tag, value] : tags) TRY(set_tag(key, run, tag, value));
  return Done{};
}

Status TrackingRows::add_inputs(std::int64_t run, const LogToRun& change) {
  for (const model::Dataset& dataset : change.datasets) {
    const auto context = dataset.tags.find(kDatasetContextTag);
    TRY(database_.run(
        "INSERT OR IGNORE INTO run_datasets (run, name, digest, context, doc) "
        "VALUES (?, ?, ?, ?, ?)",
        {run, dataset.name, dataset.digest,
         context == dataset.tags.end() ? std::string_view() : std::string_view(context->second),
         document(dataset)}));
  }
  for (const std::string& model : change.model_inputs) {
    TRY(database_.run(
        "INSERT OR IGNORE INTO run_models (run, output, model, step) VALUES (?, 0, ?, 0)",
        {run, model}));
  }
  for (const model::ModelOutput& output : change.model_outputs) {
    TRY(database_.run(
        "INSERT OR IGNORE INTO run_models (run, output, model, step) VALUES (?, 1, ?, ?)",
        {run, output.model_id, output.step}));
  }
  return Done{};
}

// ---- Logged models ------------------------------------------------------------------------------

Result<std::int64_t> TrackingRows::number_of_model(const model::WorkspaceId& workspace,
                                                   const std::string& id) {
  return database_.integer("SELECT number FROM logged_models WHERE workspace = ? AND id = ?",
                           {workspace.text, id});
}

Status TrackingRows::set_model_texts(std::int64_t model, const model::TagMap& tags,
                                     const model::TagMap& params) {
  for (const auto& [key, value] : tags) {
    TRY(database_.run(
        "INSERT OR REPLACE INTO logged_model_tags (model, key, value) VALUES (?, ?, ?)",
        {model, key, value}));
  }
  for (const auto& [key, value] : params) {
    TRY(database_.run(
        "INSERT OR REPLACE INTO logged_model_params (model, key, value) VALUES (?, ?, ?)",
        {model, key, value}));
  }
  return Done{};
}

Status TrackingRows::put(const PutLoggedModel& change) {
  const model::LoggedModel& model = change.model;
  TRY(database_.run(
      "INSERT INTO logged_models (workspace, id, experiment, name, type, source_run, status, "
      "status_message, deleted, created_at, updated_at, maker) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {model.workspace.text, model.id, model.experiment, model.name, model.type, model.source_run,
       model::text_of(model.status), model.status_message, number(model.is_deleted),
       milliseconds(model.created_at), milliseconds(model.updated_at), model.made_by}));
  return set_model_texts(TRY(number_of_model(model.workspace, model.id)), model.tags, model.params);
}

Status TrackingRows::put(const ChangeLoggedModel& change) {
  const std::int64_t model = TRY(number_of_model(change.workspace, change.id));
  if (model == 0) return Done{};
  if (change.status) {
    TRY(database_.run("UPDATE logged_models SET status = ? WHERE number = ?",
                      {model::text_of(*change.status), model}));
  }
  if (change.is_deleted) {
    TRY(database_.run("UPDATE logged_models SET deleted = ? WHERE number = ?",
                      {number(*change.is_deleted), model}));
  }
  for (const std::string& key : change.lost_tags) {
    TRY(database_.run("DELETE FROM logged_model_tags WHERE model = ? AND key = ?", {model, key}));
  }
  TRY(database_.run("UPDATE logged_models SET updated_at = ? WHERE number = ?",
                    {milliseconds(change.at), model}));
  return set_model_texts(model, change.tags, change.params);
}

}  // namespace berth::store
