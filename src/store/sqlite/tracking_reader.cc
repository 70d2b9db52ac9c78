// SPDX-License-Identifier: Apache-2.0
// How what was logged is read by its key. Searches are in tracking_search.cc.
#include "store/sqlite/tracking_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "store/sqlite/documents.h"
#include "store/sqlite/tracking_columns.h"
#include "store/tracking_names.h"

namespace berth::store {
namespace {

WallTime time_of(std::int64_t milliseconds) { return WallTime(Duration(milliseconds)); }

double value_of(const Cursor& row, int value, int nan) {
  return row.integer(nan) != 0 ? std::numeric_limits<double>::quiet_NaN() : row.real(value);
}

model::Experiment read_experiment(const Cursor& row) {
  return {.workspace = {std::string(row.text(0))},
          .id = std::string(row.text(1)),
          .name = std::string(row.text(2)),
          .artifact_location = std::string(row.text(3)),
          .is_deleted = row.integer(4) != 0,
          .created_at = time_of(row.integer(5)),
          .updated_at = time_of(row.integer(6)),
          .made_by = row.integer(7)};
}

/// key, timestamp, step, value, nan.
model::Metric read_metric(const Cursor& row) {
  return {.key = std::string(row.text(0)),
          .value = value_of(row, 3, 4),
          .timestamp = row.integer(1),
          .step = row.integer(2)};
}

// About as long as an answer shows them.

std::size_t bytes_of(const model::Metric& metric) { return metric.key.size() + 80; }

std::size_t bytes_of(const model::TagMap& texts) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : texts) bytes += key.size() + value.size() + 24;
  return bytes;
}

std::size_t bytes_of(const model::Experiment& experiment) {
  return 300 + experiment.name.size() + bytes_of(experiment.tags);
}

std::size_t bytes_of(const model::LoggedRun& run) {
  std::size_t bytes = 600 + bytes_of(run.params) + bytes_of(run.tags);
  for (const model::Metric& metric : run.metrics) bytes += bytes_of(metric);
  for (const model::Dataset& dataset : run.datasets) {
    bytes += 100 + dataset.source.size() + dataset.schema.size() + dataset.profile.size();
  }
  return bytes + 60 * (run.model_inputs.size() + run.model_outputs.size());
}

std::size_t bytes_of(const model::LoggedModel& model) {
  std::size_t bytes = 600 + bytes_of(model.params) + bytes_of(model.tags);
  for (const model::Metric& metric : model.metrics) bytes += bytes_of(metric) + 80;
  return bytes;
}

/// Reads the rest of what was found, one after the other, until the page is full.
template <typename Row, typename Found, typename Fill>
Result<Page<Row>> filled(std::vector<Found> found, const Fill& fill) {
  Page<Row> page;
  PageBudget budget;
  for (Found& each : found) {
    if (budget.is_spent()) {
      page.is_cut = true;
      break;
    }
    page.push_back(TRY(fill(std::move(each))));
    budget.take(bytes_of(page.back()));
  }
  return page;
}

}  // namespace

// ---- Experiments --------------------------------------------------------------------------------

Result<std::optional<model::Experiment>> TrackingReader::first_experiment(Cursor rows) {
  if (!TRY(rows.next())) return std::nullopt;
  model::Experiment experiment = read_experiment(rows);
  experiment.tags = TRY(tags_of(experiment));
  return experiment;
}

Result<std::optional<model::Experiment>> TrackingReader::experiment(
    const model::WorkspaceId& workspace, const std::string& id) {
  return first_experiment(
      TRY(database_.query(fmt::format("SELECT {} FROM experiments e WHERE workspace = ? AND id = ?",
                                      kExperimentColumns),
                          {workspace.text, id})));
}

Result<std::optional<model::Experiment>> TrackingReader::experiment_named(
    const model::WorkspaceId& workspace, const std::string& name) {
  return first_experiment(TRY(
      database_.query(fmt::format("SELECT {} FROM experiments e WHERE workspace = ? AND name = ?",
                                  kExperimentColumns),
                      {workspace.text, name})));
}

Result<bool> TrackingReader::is_experiment_name_taken(const model::WorkspaceId& workspace,
                                                      const std::string& name) {
  if (pending_.takes_experiment_name(workspace, name)) return true;
  return TRY(database_.integer("SELECT 1 FROM experiments WHERE workspace = ? AND name = ?",
                               {workspace.text, name})) != 0;
}

Result<Page<model::Experiment>> TrackingReader::experiments(const Search& search) {
  std::vector<model::Experiment> found;
  {
    const Sql sql = TRY(experiment_search(search));
    Cursor rows = TRY(database_.query(sql));
    while (TRY(rows.next())) found.push_back(read_experiment(rows));
  }
  return filled<model::Experiment>(
      std::move(found), [this](model::Experiment experiment) -> Result<model::Experiment> {
        experiment.tags = TRY(tags_of(experiment));
        return experiment;
      });
}

Result<model::TagMap> TrackingReader::tags_of(const model::Experiment& experiment) {
  Cursor rows = TRY(
      database_.query("SELECT key, value FROM experiment_tags WHERE workspace = ? AND experiment = "
                      "?",
                      {experiment.workspace.text, experiment.id}));
  model::TagMap tags;
  while (TRY(rows.next())) tags.emplace(rows.text(0), rows.text(1));
  return tags;
}

// ---- Runs ---------------------------------------------------------------------------------------

TrackingReader::NumberedRun TrackingReader::read_run(const Cursor& row,
                                                     const model::WorkspaceId& workspace) {
  model::Run run{.key = {workspace, std::string(row.text(1))},
                 .experiment = std::string(row.text(2)),
                 .name = std::string(row.text(3)),
                 .user = std::string(row.text(4)),
                 .status = model::run_status_from(row.text(5)).value_or(model::RunStatus::Running),
                 .started_at = time_of(row.integer(6)),
                 .is_deleted = row.integer(8) != 0,
                 .is_job = row.integer(9) != 0,
                 .artifact_location = std::string(row.text(10)),
                 .made_by = row.integer(11)};
  if (!row.is_null(7)) run.ended_at = time_of(row.integer(7));
  return {row.integer(0), std::move(run)};
}

Result<std::optional<TrackingReader::NumberedRun>> TrackingReader::find_run(
    const model::RunKey& key) {
  Cursor row = TRY(database_.query(
      fmt::format("SELECT {} FROM runs r WHERE r.workspace = ? AND r.id = ?", kRunColumns),
      {key.workspace.text, key.name}));
  if (!TRY(row.next())) return std::nullopt;
  return read_run(row, key.workspace);
}

Result<std::int64_t> TrackingReader::number_of(const model::RunKey& run) {
  return database_.integer("SELECT number FROM runs WHERE workspace = ? AND id = ?",
                           {run.workspace.text, run.name});
}

Result<std::optional<model::Run>> TrackingReader::run(const model::RunKey& key) {
  std::optional<NumberedRun> found = TRY(find_run(key));
  if (!found) return std::nullopt;
  return std::move(found->run);
}

Result<std::optional<model::LoggedRun>> TrackingReader::logged_run(const model::RunKey& key) {
  std::optional<NumberedRun> found = TRY(find_run(key));
  if (!found) return std::nullopt;
  return TRY(with_log(*std::move(found)));
}

Result<Page<model::LoggedRun>> TrackingReader::runs(const Search& search) {
  std::vector<NumberedRun> found;
  if (!search.experiments.empty()) {
    const Sql sql = TRY(run_search(search));
    Cursor rows = TRY(database_.query(sql));
    while (TRY(rows.next())) found.push_back(read_run(rows, search.workspace));
  }
  return filled<model::LoggedRun>(std::move(found),
                                  [this](NumberedRun run) { return with_log(std::move(run)); });
}

Result<model::TagMap> TrackingReader::texts(std::string_view sql, std::int64_t owner) {
  Cursor rows = TRY(database_.query(sql, {owner}));
  model::TagMap texts;
  while (TRY(rows.next())) texts.emplace(rows.text(0), rows.text(1));
  return texts;
}

Result<model::LoggedRun> TrackingReader::with_log(NumberedRun found) {
  model::LoggedRun run{.run = std::move(found.run)};
  {
    Cursor rows = TRY(
        database_.query("SELECT key, timestamp, step, value, nan FROM latest_metrics WHERE run = ?",
                        {found.number}));
    while (TRY(rows.next())) run.metrics.push_back(read_metric(rows));
  }
  run.params = TRY(texts("SELECT key, value FROM run_params WHERE run = ?", found.number));
  run.tags = TRY(texts("SELECT key, value FROM run_tags WHERE run = ?", found.number));
  if (!run.run.name.empty()) run.tags[kNameTag] = run.run.name;
  if (!run.run.user.empty()) run.tags[kUserTag] = run.run.user;
  TRY(add_inputs(found.number, run));
  return run;
}

Status TrackingReader::add_inputs(std::int64_t number, model::LoggedRun& run) {
  run.datasets = TRY(read_documents<model::Dataset>(
      TRY(database_.query("SELECT doc FROM run_datasets WHERE run = ?", {number}))));
  Cursor rows =
      TRY(database_.query("SELECT output, model, step FROM run_models WHERE run = ?", {number}));
  while (TRY(rows.next())) {
    if (rows.integer(0) == 0) {
      run.model_inputs.emplace_back(rows.text(1));
    } else {
      run.model_outputs.push_back({std::string(rows.text(1)), rows.integer(2)});
    }
  }
  return Done{};
}

Result<std::optional<std::string>> TrackingReader::param(const model::RunKey& run,
                                                         const std::string& key) {
  if (auto pending = pending_.param(run, key)) return pending;
  const std::int64_t number = TRY(number_of(run));
  Cursor row =
      TRY(database_.query("SELECT value FROM run_params WHERE run = ? AND key = ?", {number, key}));
  if (!TRY(row.next())) return std::nullopt;
  return std::string(row.text(0));
}

Result<std::optional<std::string>> TrackingReader::tag(const model::RunKey& run,
                                                       const std::string& key) {
  const std::int64_t number = TRY(number_of(run));
  Cursor row =
      TRY(database_.query("SELECT value FROM run_tags WHERE run = ? AND key = ?", {number, key}));
  if (!TRY(row.next())) return std::nullopt;
  return std::string(row.text(0));
}

/// The lengths are of characters, of which most have one byte.
Result<std::size_t> TrackingReader::shown_bytes(const model::RunKey& run) {
  const std::int64_t number = TRY(number_of(run));
  std::int64_t total = 0;
  for (const char* sql : {"SELECT sum(length(key) + length(value)) FROM run_tags WHERE run = ?",
                          "SELECT sum(length(key) + length(value)) FROM run_params WHERE run = ?",
                          "SELECT sum(length(key) + 80) FROM latest_metrics WHERE run = ?",
                          "SELECT sum(length(doc)) FROM run_datasets WHERE run = ?",
                          "SELECT sum(length(model) + 40) FROM run_models WHERE run = ?"}) {
    total += TRY(database_.integer(sql, {number}));
  }
  return static_cast<std::size_t>(total);
}

// ---- Metrics ------------------------------------------------------------------------------------

Result<std::optional<model::Metric>> TrackingReader::latest_metric(const model::RunKey& run,
                                                                   const std::string& key) {
  const std::int64_t number = TRY(number_of(run));
  Cursor row = TRY(database_.query(
      "SELECT key, timestamp, step, value, nan FROM latest_metrics WHERE run = ? AND key = ?",
      {number, key}));
  if (!TRY(row.next())) return std::nullopt;
  return read_metric(row);
}

Result<Page<model::Metric>> TrackingReader::history(const HistoryQuery& query) {
  const std::int64_t run = TRY(number_of(query.run));
  Sql sql;
  sql.add("SELECT key, timestamp, step, value, nan FROM metric_points WHERE run = ?", run);
  sql.add(" AND key = ?", query.key);
  if (query.after) {
    const model::Metric& after = *query.after;
    const bool is_nan = std::isnan(after.value);
    sql.add(" AND (timestamp, step, value, nan) > (?", after.timestamp);
    sql.add(", ?", after.step);
    sql.add(", ?", is_nan ? 0.0 : after.value);
    sql.add(", ?)", std::int64_t{is_nan});
  }
  sql.add(" ORDER BY timestamp, step, value, nan LIMIT ?",
          static_cast<std::int64_t>(std::min<std::size_t>(query.limit, 1'000'000)));
  return fill_page<model::Metric>(TRY(database_.query(sql)), [](Cursor& row, PageBudget& budget) {
    model::Metric point = read_metric(row);
    budget.take(bytes_of(point));
    return Result<model::Metric>(std::move(point));
  });
}

Result<std::vector<DatasetSummary>> TrackingReader::datasets(
    const model::WorkspaceId& workspace, const std::vector<std::string>& experiments) {
  std::vector<DatasetSummary> found;
  for (const std::string& experiment : experiments) {
    Cursor rows = TRY(database_.query(
        "SELECT DISTINCT d.name, d.digest, d.context FROM runs r INDEXED BY runs_by_age "
        "CROSS JOIN run_datasets d ON d.run = r.number "
        "WHERE r.workspace = ? AND r.experiment = ? AND r.deleted = 0 LIMIT 1000",
        {workspace.text, experiment}));
    while (TRY(rows.next())) {
      found.push_back({experiment, std::string(rows.text(0)), std::string(rows.text(1)),
                       std::string(rows.text(2))});
    }
  }
  return found;
}

// ---- Logged models ------------------------------------------------------------------------------

TrackingReader::NumberedModel TrackingReader::read_model(const Cursor& row,
                                                         const model::WorkspaceId& workspace) {
  model::LoggedModel model{
      .workspace = workspace,
      .id = std::string(row.text(1)),
      .experiment = std::string(row.text(2)),
      .name = std::string(row.text(3)),
      .type = std::string(row.text(4)),
      .source_run = std::string(row.text(5)),
      .status =
          model::logged_model_status_from(row.text(6)).value_or(model::LoggedModelStatus::Pending),
      .status_message = std::string(row.text(7)),
      .is_deleted = row.integer(8) != 0,
      .created_at = time_of(row.integer(9)),
      .updated_at = time_of(row.integer(10)),
      .artifact_location = std::string(row.text(11)),
      .made_by = row.integer(12)};
  return {row.integer(0), std::move(model)};
}

Result<model::LoggedModel> TrackingReader::with_log(NumberedModel found) {
  model::LoggedModel model = std::move(found.model);
  model.tags = TRY(texts("SELECT key, value FROM logged_model_tags WHERE model = ?", found.number));
  model.params =
      TRY(texts("SELECT key, value FROM logged_model_params WHERE model = ?", found.number));
  Cursor rows = TRY(
      database_.query("SELECT key, timestamp, step, value, nan, run, dataset_name, dataset_digest "
                      "FROM logged_model_metrics WHERE model = ?",
                      {found.number}));
  while (TRY(rows.next())) {
    model::Metric metric = read_metric(rows);
    metric.model_id = model.id;
    metric.run_id = rows.text(5);
    metric.dataset_name = rows.text(6);
    metric.dataset_digest = rows.text(7);
    model.metrics.push_back(std::move(metric));
  }
  return model;
}

Result<std::optional<model::LoggedModel>> TrackingReader::logged_model(
    const model::WorkspaceId& workspace, const std::string& id) {
  std::optional<NumberedModel> found;
  {
    Cursor row = TRY(database_.query(
        fmt::format("SELECT {} FROM logged_models m WHERE m.workspace = ? AND m.id = ?",
                    kModelColumns),
        {workspace.text, id}));
    if (TRY(row.next())) found = read_model(row, workspace);
  }
  if (!found) return std::nullopt;
  return TRY(with_log(*std::move(found)));
}

Result<Page<model::LoggedModel>> TrackingReader::logged_models(
    const Search& search, const std::vector<DatasetFilter>& datasets) {
  std::vector<NumberedModel> found;
  if (!search.experiments.empty()) {
    const Sql sql = TRY(logged_model_search(search, datasets));
    Cursor rows = TRY(database_.query(sql));
    while (TRY(rows.next())) found.push_back(read_model(rows, search.workspace));
  }
  return filled<model::LoggedModel>(
      std::move(found), [this](NumberedModel model) { return with_log(std::move(model)); });
}

}  // namespace berth::store
