// SPDX-License-Identifier: Apache-2.0
// MLflow 3: models as they are logged, before anybody registers them.
#include "base/random.h"
#include "model/labels.h"
#include "server/door/route.h"
#include "server/mlflow/mlflow.h"
#include "wire/mlflow/limits.h"
#include "wire/mlflow/tracking.h"

namespace berth::server {
namespace {

namespace json = boost::json;
namespace mlflow = wire::mlflow;
using mlflow::Message;
using model::LoggedModel;

constexpr std::int64_t kDefaultPage = 100;

WallTime now(const Call& call) { return call.services.clock.now().wall; }

json::object shown(const LoggedModel& model) { return {{"model", mlflow::to_json(model)}}; }

Result<LoggedModel> find_model(const Call& call, Touch touch, bool may_be_deleted = false) {
  const std::string& id = call.parameter("model_id");
  std::optional<LoggedModel> found = TRY(tracking_of(call).logged_model(call.workspace->id, id));
  if (!found || (found->is_deleted && !may_be_deleted)) {
    return fail(Code::NotFound, fmt::format("no logged model with id '{}'", id));
  }
  TRY(check_reach(call, *found, touch));
  return *std::move(found);
}

/// A run's models are found by its name: nobody adds one to a run that is not theirs to change.
Result<std::string> source_run_of(const Call& call, const Message& message) {
  const std::string id = TRY(message.text("source_run_id"));
  const auto run = TRY(tracking_of(call).run({call.workspace->id, id}));
  if (run) TRY(check_reach(call, *run, Touch::Write));
  return id;
}

Result<model::TagMap> texts_of(const Message& message, const char* field) {
  model::TagMap texts;
  for (const auto& [key, value] : TRY(message.pairs(field))) {
    TRY(mlflow::check_tag(key, value, std::string(field) + "."));
    texts[key] = value;
  }
  return texts;
}

Result<io::Reply> create(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string asked = TRY(message.required_text("experiment_id"));
  const model::Experiment experiment = TRY(find_experiment_to_add_to(call, asked));
  LoggedModel model{.workspace = call.workspace->id,
                    .id = "m-" + random_hex(16),
                    .experiment = experiment.id,
                    .artifact_location = experiment.artifact_location};
  model.name = TRY(message.text("name"));
  TRY(mlflow::check_model_name(model.name));
  if (model.name.empty()) model.name = random_display_name();
  model.type = TRY(message.text("model_type"));
  model.source_run = TRY(source_run_of(call, message));
  model.made_by = maker_of(call);
  model.params = TRY(texts_of(message, "params"));
  model.tags = TRY(texts_of(message, "tags"));
  model.created_at = model.updated_at = now(call);
  json::object answer = shown(model);
  track(call, store::PutLoggedModel{std::move(model)});
  return json_reply(200, answer);
}

Status check_texts(const LoggedModel& model) {
  return model::check_room(model::bytes_of(model.tags) + model::bytes_of(model.params),
                           model::kMostTagBytes,
                           fmt::format("the tags and parameters of model '{}'", model.name));
}

Result<io::Reply> get(Call& call) {
  const Message message = TRY(message_of(call));
  const bool may_be_deleted = TRY(message.boolean("allow_deleted", false));
  return recorded(call, shown(TRY(find_model(call, Touch::Read, may_be_deleted))));
}

Result<io::Reply> finalize(Call& call) {
  const Message message = TRY(message_of(call));
  const auto status = model::logged_model_status_from(TRY(message.required_text("status")));
  if (!status) {
    return message.wrong("status", "is LOGGED_MODEL_READY or LOGGED_MODEL_UPLOAD_FAILED");
  }
  LoggedModel model = TRY(find_model(call, Touch::Write));
  model.status = *status;
  model.updated_at = now(call);
  track(
      call,
      store::ChangeLoggedModel{
          .workspace = model.workspace, .id = model.id, .at = model.updated_at, .status = status});
  return json_reply(200, shown(model));
}

Result<io::Reply> remove(Call& call) {
  const LoggedModel model = TRY(find_model(call, Touch::Write));
  track(call,
        store::ChangeLoggedModel{
            .workspace = model.workspace, .id = model.id, .at = now(call), .is_deleted = true});
  return json_reply(200, json::object());
}

Result<io::Reply> set_tags(Call& call) {
  const Message message = TRY(message_of(call));
  LoggedModel model = TRY(find_model(call, Touch::Write));
  model::TagMap tags = TRY(texts_of(message, "tags"));
  for (const auto& [key, value] : tags) model.tags[key] = value;
  TRY(check_texts(model));
  track(
      call,
      store::ChangeLoggedModel{
          .workspace = model.workspace, .id = model.id, .at = now(call), .tags = std::move(tags)});
  return json_reply(200, shown(model));
}

Result<io::Reply> delete_tag(Call& call) {
  const LoggedModel model = TRY(find_model(call, Touch::Write));
  const std::string& key = call.parameter("tag_key");
  if (!model.tags.contains(key)) {
    return fail(Code::NotFound, fmt::format("logged model '{}' has no tag '{}'", model.id, key));
  }
  track(call,
        store::ChangeLoggedModel{
            .workspace = model.workspace, .id = model.id, .at = now(call), .lost_tags = {key}});
  return json_reply(200, json::object());
}

Result<io::Reply> log_params(Call& call) {
  const Message message = TRY(message_of(call));
  LoggedModel model = TRY(find_model(call, Touch::Write));
  model::TagMap params = TRY(texts_of(message, "params"));
  for (const auto& [key, value] : params) model.params[key] = value;
  TRY(check_texts(model));
  track(call, store::ChangeLoggedModel{.workspace = model.workspace,
                                       .id = model.id,
                                       .at = now(call),
                                       .params = std::move(params)});
  return json_reply(200, json::object());
}

/// Objects: {"field_name": "metrics.loss", "ascending": false}.
Result<std::vector<model::Ordering>> order_of(const Message& message) {
  std::vector<model::Ordering> order;
  for (const Message& each : TRY(message.messages("order_by"))) {
    const std::string field = TRY(each.required_text("field_name"));
    model::Ordering ordering = TRY(mlflow::parse_order(mlflow::Subject::LoggedModels, field));
    ordering.is_ascending = TRY(each.boolean("ascending", true));
    order.push_back(std::move(ordering));
  }
  return order;
}

Result<std::vector<store::DatasetFilter>> datasets_of(const Message& message) {
  std::vector<store::DatasetFilter> datasets;
  for (const Message& each : TRY(message.messages("datasets"))) {
    store::DatasetFilter filter;
    filter.name = TRY(each.required_text("dataset_name"));
    filter.digest = TRY(each.text("dataset_digest"));
    datasets.push_back(std::move(filter));
  }
  return datasets;
}

Result<io::Reply> search(Call& call) {
  const Message message = TRY(message_of(call));
  store::Search search = TRY(search_of(call, message, mlflow::Subject::LoggedModels));
  if (!message.has("max_results")) search.limit = kDefaultPage + 1;
  search.experiments = TRY(message.texts("experiment_ids"));
  search.order = TRY(order_of(message));
  const std::vector<store::DatasetFilter> datasets = TRY(datasets_of(message));
  return search_later(call, [search, datasets](store::Tracking& tracking) -> Result<io::Reply> {
    store::Page<LoggedModel> found = TRY(tracking.logged_models(search, datasets));
    const std::string next = take_page(found, search);
    json::array models;
    for (const LoggedModel& model : found) models.push_back(mlflow::to_json(model));
    json::object answer = {{"models", std::move(models)}};
    if (!next.empty()) answer["next_page_token"] = next;
    return json_reply(200, answer);
  });
}

constexpr Permission kRead = allow_jobs(kReadRuns);
constexpr Permission kWrite = allow_jobs(kWriteRuns);
constexpr Permission kDelete = allow_people(kDeleteRuns);
/// A tag is no more than a word about the model.
constexpr Permission kUntag = allow_jobs(kDeleteRuns);

constexpr const char* kAll = "/mlflow/v1.0/W/api/2.0/mlflow/logged-models";
constexpr const char* kOne = "/mlflow/v1.0/W/api/2.0/mlflow/logged-models/{model_id}";

constexpr Route kRoutes[] = {
    {"POST", kAll, kWrite, BodyKind::Json, create},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/logged-models/search", kRead, BodyKind::Json, search},
    {"GET", kOne, kRead, BodyKind::None, get},
    {"PATCH", kOne, kWrite, BodyKind::Json, finalize},
    {"DELETE", kOne, kDelete, BodyKind::None, remove},
    {"PATCH", "/mlflow/v1.0/W/api/2.0/mlflow/logged-models/{model_id}/tags", kWrite, BodyKind::Json,
     set_tags},
    {"DELETE", "/mlflow/v1.0/W/api/2.0/mlflow/logged-models/{model_id}/tags/{tag_key}", kUntag,
     BodyKind::None, delete_tag},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/logged-models/{model_id}/params", kWrite,
     BodyKind::Json, log_params},
};

}  // namespace

std::span<const Route> mlflow_model_routes() { return kRoutes; }

}  // namespace berth::server
