// SPDX-License-Identifier: Apache-2.0
// MLflow: metrics, parameters, tags, inputs and outputs of runs.
#include <set>

#include "base/record.h"
#include "model/labels.h"
#include "server/door/route.h"
#include "server/mlflow/mlflow.h"
#include "server/mlflow/run_room.h"
#include "server/plane/jobs_desk.h"
#include "server/plane/ledger.h"
#include "store/tracking_names.h"
#include "wire/mlflow/limits.h"
#include "wire/mlflow/tracking.h"

namespace berth::server {
namespace {

namespace json = boost::json;
namespace mlflow = wire::mlflow;
using mlflow::Message;
using model::Run;

constexpr std::size_t kMostPoints = 25'000;
constexpr std::size_t kMostDatasets = 1000;

io::Reply done() { return json_reply(200, json::object()); }

Status log_to(const Call& call, store::LogToRun change) {
  if (call.services.run_room != nullptr) {
    TRY(call.services.run_room->take(tracking_of(call), change.run, bytes_of(change),
                                     call.services.clock.now().mono));
  }
  track(call, std::move(change));
  return Done{};
}

/// The tags of a job's run that are users' own are the job's as well.
bool is_users_own(std::string_view tag) { return !tag.starts_with("mlflow."); }

Status set_tags(const Call& call, const Run& run, const model::TagMap& tags,
                store::LogToRun& change) {
  model::TagMap of_job;
  for (const auto& [key, value] : tags) {
    if (run.is_job && key == store::kNameTag) {
      TRY(call.services.jobs.rename(run.key, value));
    } else if (run.is_job && is_users_own(key)) {
      of_job[key] = value;
    } else {
      change.tags[key] = value;
    }
  }
  if (of_job.empty()) return Done{};
  return call.services.jobs.tag(run.key, of_job, {});
}

/// A parameter has one value for ever; giving it that again is fine.
Status check_unchanged(const Call& call, const Run& run, const std::string& key,
                       const std::string& value) {
  const std::optional<std::string> old = TRY(tracking_of(call).param(run.key, key));
  if (!old || *old == value) return Done{};
  return fail(Code::InvalidArgument,
              fmt::format("parameter '{}' of run '{}' has the value '{}' already and cannot be "
                          "changed to '{}'; a nested run can have one of its own",
                          key, run.key.name, *old, value),
              "params");
}

/// A point may be a logged model's as well as the run's.
Status check_models_of(const Call& call, const std::vector<model::Metric>& metrics) {
  std::set<std::string> models;
  for (const model::Metric& metric : metrics) models.insert(metric.model_id);
  for (const std::string& id : models) {
    if (id.empty()) continue;
    const auto model = TRY(tracking_of(call).logged_model(call.workspace->id, id));
    if (model) TRY(check_reach(call, *model, Touch::Write));
  }
  return Done{};
}

Result<io::Reply> log_metric(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string id = TRY(mlflow::run_id_of(message));
  model::Metric metric = TRY(mlflow::metric_from(message));
  TRY(mlflow::check_metric(metric, ""));
  const Run run = TRY(find_active_run(call, id));
  TRY(check_models_of(call, {metric}));
  TRY(log_to(call, {.run = run.key, .metrics = {std::move(metric)}}));
  return done();
}

Result<io::Reply> log_param(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string id = TRY(mlflow::run_id_of(message));
  const std::string key = TRY(message.required_text("key"));
  const std::string value = TRY(message.text("value"));
  TRY(mlflow::check_param(key, value, ""));
  const Run run = TRY(find_active_run(call, id));
  TRY(check_unchanged(call, run, key, value));
  TRY(log_to(call, {.run = run.key, .params = {{key, value}}}));
  return done();
}

Result<io::Reply> set_tag(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string id = TRY(mlflow::run_id_of(message));
  const std::string key = TRY(message.required_text("key"));
  const std::string value = TRY(message.text("value"));
  TRY(mlflow::check_tag(key, value, ""));
  const Run run = TRY(find_active_run(call, id));
  store::LogToRun change{.run = run.key};
  const Together together(call.services.ledger);
  TRY(set_tags(call, run, {{key, value}}, change));
  TRY(log_to(call, std::move(change)));
  return done();
}

Result<io::Reply> delete_tag(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string id = TRY(mlflow::run_id_of(message));
  const std::string key = TRY(message.required_text("key"));
  const Run run = TRY(find_active_run(call, id));
  if (!TRY(tracking_of(call).tag(run.key, key))) {
    return fail(Code::NotFound, fmt::format("run '{}' has no tag '{}'", id, key));
  }
  const Together together(call.services.ledger);
  if (run.is_job && is_users_own(key)) TRY(call.services.jobs.tag(run.key, {}, {key}));
  track(call, store::LogToRun{.run = run.key, .lost_tags = {key}});
  return done();
}

// ---- Batches ------------------------------------------------------------------------------------

Status add_metrics(const std::vector<Message>& given, store::LogToRun& change) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    model::Metric metric = TRY(mlflow::metric_from(given[i]));
    TRY(mlflow::check_metric(metric, fmt::format("metrics[{}].", i)));
    change.metrics.push_back(std::move(metric));
  }
  return Done{};
}

Status add_params(const mlflow::Pairs& given, store::LogToRun& change) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto& [key, value] = given[i];
    TRY(mlflow::check_param(key, value, fmt::format("params[{}].", i)));
    if (!change.params.emplace(key, value).second) {
      return fail(Code::InvalidArgument, fmt::format("'params' names '{}' twice", key), "params");
    }
  }
  return Done{};
}

/// All of it or nothing.
Result<io::Reply> log_batch(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string id = TRY(mlflow::run_id_of(message));
  const std::vector<Message> metrics = TRY(message.messages("metrics"));
  const mlflow::Pairs params = TRY(message.pairs("params"));
  const mlflow::Pairs given_tags = TRY(message.pairs("tags"));
  TRY(mlflow::check_batch(metrics.size(), params.size(), given_tags.size()));
  store::LogToRun change;
  TRY(add_metrics(metrics, change));
  TRY(add_params(params, change));
  model::TagMap tags;
  for (std::size_t i = 0; i < given_tags.size(); ++i) {
    const auto& [key, value] = given_tags[i];
    TRY(mlflow::check_tag(key, value, fmt::format("tags[{}].", i)));
    tags[key] = value;
  }
  const Run run = TRY(find_active_run(call, id));
  TRY(check_models_of(call, change.metrics));
  change.run = run.key;
  for (const auto& [key, value] : change.params) TRY(check_unchanged(call, run, key, value));
  const Together together(call.services.ledger);
  TRY(set_tags(call, run, tags, change));
  TRY(log_to(call, std::move(change)));
  return done();
}

// ---- Models, inputs and outputs -----------------------------------------------------------------

constexpr const char* kModelHistoryTag = "mlflow.log-model.history";
/// A model takes about 1 KiB of it; each one more writes all of it again.
constexpr std::size_t kMostHistoryBytes = 256 * 1024;

/// MLflow 2 notes a logged model in a tag of its run: a list, to which this adds one.
Result<io::Reply> log_model(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string id = TRY(mlflow::run_id_of(message));
  const std::string text = TRY(message.required_text("model_json"));
  const Result<json::value> model = record::parse(text);
  if (!model || !model->is_object()) return message.wrong("model_json", "is not a JSON object");
  json::object noted;
  for (const char* key : {"run_id", "artifact_path", "utc_time_created", "model_uuid", "flavors"}) {
    const json::value* value = model->get_object().if_contains(key);
    if (value == nullptr) return message.wrong("model_json", fmt::format("has no '{}'", key));
    noted[key] = *value;
  }
  const Run run = TRY(find_active_run(call, id));
  json::array history;
  if (const auto old = TRY(tracking_of(call).tag(run.key, kModelHistoryTag))) {
    const Result<json::value> parsed = record::parse(*old);
    if (parsed && parsed->is_array()) history = parsed->get_array();
  }
  history.push_back(std::move(noted));
  const std::string longer = json::serialize(history);
  TRY(model::check_room(longer.size(), kMostHistoryBytes,
                        fmt::format("the list of the models that run '{}' has logged ({})",
                                    run.key.name, kModelHistoryTag)));
  TRY(log_to(call, {.run = run.key, .tags = {{kModelHistoryTag, longer}}}));
  return done();
}

Result<io::Reply> log_inputs(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string id = TRY(mlflow::run_id_of(message));
  const std::vector<Message> datasets = TRY(message.messages("datasets"));
  if (datasets.size() > kMostDatasets) {
    return message.wrong("datasets", "has too many entries: at most 1000 are taken at once");
  }
  store::LogToRun change;
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    model::Dataset dataset = TRY(mlflow::dataset_from(datasets[i]));
    TRY(mlflow::check_dataset(dataset, fmt::format("datasets[{}].", i)));
    change.datasets.push_back(std::move(dataset));
  }
  for (const Message& model : TRY(message.messages("models"))) {
    change.model_inputs.push_back(TRY(model.required_text("model_id")));
  }
  change.run = TRY(find_active_run(call, id)).key;
  TRY(log_to(call, std::move(change)));
  return done();
}

Result<io::Reply> log_outputs(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string id = TRY(mlflow::run_id_of(message));
  store::LogToRun change;
  for (const Message& model : TRY(message.messages("models"))) {
    model::ModelOutput output;
    output.model_id = TRY(model.required_text("model_id"));
    output.step = TRY(model.integer("step")).value_or(0);
    change.model_outputs.push_back(std::move(output));
  }
  change.run = TRY(find_active_run(call, id)).key;
  TRY(log_to(call, std::move(change)));
  return done();
}

// ---- Reading ------------------------------------------------------------------------------------

Result<io::Reply> get_history(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string id = TRY(mlflow::run_id_of(message));
  const std::string token = TRY(message.text("page_token"));
  store::HistoryQuery query{.run = {call.workspace->id, id}};
  query.key = TRY(message.required_text("metric_key"));
  const auto asked = TRY(message.integer("max_results"));
  query.limit = asked ? TRY(mlflow::checked_page_size(*asked, mlflow::kMostResults)) : kMostPoints;
  if (!token.empty()) query.after = TRY(mlflow::point_of_token(token));
  TRY(find_run(call, id, Touch::Read));
  ++query.limit;
  return search_later(call, [query](store::Tracking& tracking) -> Result<io::Reply> {
    store::Page<model::Metric> points = TRY(tracking.history(query));
    json::object answer;
    const bool has_more = points.is_cut || points.size() == query.limit;
    if (points.size() == query.limit) points.pop_back();
    if (has_more) answer["next_page_token"] = mlflow::token_of_point(points.back());
    json::array metrics;
    for (const model::Metric& point : points) metrics.push_back(mlflow::to_json(point));
    answer["metrics"] = std::move(metrics);
    return json_reply(200, answer);
  });
}

Result<io::Reply> search_datasets(Call& call) {
  const Message message = TRY(message_of(call));
  const std::vector<std::string> experiments = TRY(message.texts("experiment_ids"));
  if (experiments.empty() || experiments.size() > 20) {
    return message.wrong("experiment_ids", "must name 1 to 20 experiments");
  }
  TRY(check_reads_all(call, "the datasets of experiments"));
  const model::WorkspaceId workspace = call.workspace->id;
  return search_later(call, [=](store::Tracking& tracking) -> Result<io::Reply> {
    json::array summaries;
    for (const auto& each : TRY(tracking.datasets(workspace, experiments))) {
      json::object summary = {
          {"experiment_id", each.experiment}, {"name", each.name}, {"digest", each.digest}};
      if (!each.context.empty()) summary["context"] = each.context;
      summaries.push_back(std::move(summary));
    }
    return json_reply(200, json::object{{"dataset_summaries", std::move(summaries)}});
  });
}

constexpr Permission kRead = allow_jobs(kReadRuns);
constexpr Permission kWrite = allow_jobs(kWriteRuns);

constexpr Route kRoutes[] = {
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/runs/log-metric", kWrite, BodyKind::Json, log_metric},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/runs/log-parameter", kWrite, BodyKind::Json, log_param},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/runs/set-tag", kWrite, BodyKind::Json, set_tag},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/runs/delete-tag", kWrite, BodyKind::Json, delete_tag},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/runs/log-batch", kWrite, BodyKind::Json, log_batch},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/runs/log-model", kWrite, BodyKind::Json, log_model},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/runs/log-inputs", kWrite, BodyKind::Json, log_inputs},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/runs/outputs", kWrite, BodyKind::Json, log_outputs},
    {"GET", "/mlflow/v1.0/W/api/2.0/mlflow/metrics/get-history", kRead, BodyKind::None,
     get_history},
    // MLflow's own definition leaves out the slash.
    {"POST", "/mlflow/v1.0/W/api/2.0mlflow/experiments/search-datasets", kRead, BodyKind::Json,
     search_datasets},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/experiments/search-datasets", kRead, BodyKind::Json,
     search_datasets},
};

}  // namespace

std::span<const Route> mlflow_log_routes() { return kRoutes; }

}  // namespace berth::server
