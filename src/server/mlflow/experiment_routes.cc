// SPDX-License-Identifier: Apache-2.0
// MLflow: experiments.
#include "model/labels.h"
#include "server/door/route.h"
#include "server/mlflow/mlflow.h"
#include "store/tracking_names.h"
#include "wire/mlflow/limits.h"
#include "wire/mlflow/tracking.h"

namespace berth::server {
namespace {

namespace json = boost::json;
namespace mlflow = wire::mlflow;
using mlflow::Message;
using model::Experiment;

WallTime now(const Call& call) { return call.services.clock.now().wall; }

Status check_name_is_free(const Call& call, const std::string& name) {
  TRY(mlflow::check_experiment_name(name));
  if (!TRY(tracking_of(call).is_experiment_name_taken(call.workspace->id, name))) return Done{};
  return fail(Code::Conflict, fmt::format("experiment '{}' exists already", name));
}

Status check_tags(const Experiment& experiment) {
  return model::check_room(model::bytes_of(experiment.tags), model::kMostTagBytes,
                           fmt::format("the tags of experiment '{}'", experiment.name));
}

Result<io::Reply> create(Call& call) {
  const Message message = TRY(message_of(call));
  Experiment experiment{.workspace = call.workspace->id, .id = store::new_experiment_id()};
  experiment.name = TRY(message.required_text("name"));
  experiment.artifact_location = TRY(message.text("artifact_location"));
  TRY(mlflow::check_artifact_location(experiment.artifact_location));
  for (auto& [key, value] : TRY(message.pairs("tags"))) {
    TRY(mlflow::check_experiment_tag(key, value));
    experiment.tags[key] = value;
  }
  TRY(check_tags(experiment));
  TRY(check_name_is_free(call, experiment.name));
  experiment.created_at = experiment.updated_at = now(call);
  experiment.made_by = maker_of(call);
  json::object answer = {{"experiment_id", experiment.id}};
  track(call, store::PutExperiment{std::move(experiment)});
  return json_reply(200, answer);
}

Result<io::Reply> get(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string id = TRY(message.required_text("experiment_id"));
  return recorded(
      call,
      json::object{{"experiment", mlflow::to_json(TRY(find_experiment(call, id, Touch::Read)))}});
}

Result<io::Reply> get_by_name(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string name = TRY(message.required_text("experiment_name"));
  const auto found = TRY(tracking_of(call).experiment_named(call.workspace->id, name));
  if (!found) return fail(Code::NotFound, fmt::format("no experiment with name '{}'", name));
  TRY(check_reach(call, *found, Touch::Read));
  return recorded(call, json::object{{"experiment", mlflow::to_json(*found)}});
}

Result<store::LifeView> view_of(const Message& message) {
  const std::string view = TRY(message.text("view_type"));
  if (view.empty() || view == "ACTIVE_ONLY") return store::LifeView::Active;
  if (view == "DELETED_ONLY") return store::LifeView::Deleted;
  if (view == "ALL") return store::LifeView::All;
  return message.wrong("view_type", "is ACTIVE_ONLY, DELETED_ONLY or ALL");
}

Result<io::Reply> search(Call& call) {
  const Message message = TRY(message_of(call));
  store::Search search = TRY(search_of(call, message, mlflow::Subject::Experiments));
  search.view = TRY(view_of(message));
  return search_later(call, [search](store::Tracking& tracking) -> Result<io::Reply> {
    store::Page<Experiment> found = TRY(tracking.experiments(search));
    const std::string next = take_page(found, search);
    json::array experiments;
    for (const Experiment& experiment : found) experiments.push_back(mlflow::to_json(experiment));
    json::object answer = {{"experiments", std::move(experiments)}};
    if (!next.empty()) answer["next_page_token"] = next;
    return json_reply(200, answer);
  });
}

Result<io::Reply> mark(Call& call, bool is_deleted) {
  const Message message = TRY(message_of(call));
  const std::string id = TRY(message.required_text("experiment_id"));
  const Experiment experiment = TRY(find_experiment(call, id, Touch::Write));
  if (experiment.is_deleted == is_deleted) {
    return fail(Code::NotFound, fmt::format("no {} experiment with id '{}'",
                                            is_deleted ? "active" : "deleted", id));
  }
  track(call, store::MarkExperiment{call.workspace->id, id, is_deleted, now(call)});
  return json_reply(200, json::object());
}

Result<io::Reply> remove(Call& call) { return mark(call, true); }
Result<io::Reply> restore(Call& call) { return mark(call, false); }

Result<io::Reply> update(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string id = TRY(message.required_text("experiment_id"));
  const std::string name = TRY(message.required_text("new_name"));
  Experiment experiment = TRY(find_active_experiment(call, id));
  if (experiment.name != name) {
    TRY(check_name_is_free(call, name));
    experiment.name = name;
    experiment.updated_at = now(call);
    track(call, store::PutExperiment{std::move(experiment)});
  }
  return json_reply(200, json::object());
}

Result<io::Reply> set_tag(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string id = TRY(message.required_text("experiment_id"));
  const std::string key = TRY(message.required_text("key"));
  const std::string value = TRY(message.text("value"));
  TRY(mlflow::check_experiment_tag(key, value));
  Experiment experiment = TRY(find_active_experiment(call, id));
  experiment.tags[key] = value;
  TRY(check_tags(experiment));
  track(call, store::TagExperiment{call.workspace->id, id, key, value, now(call)});
  return json_reply(200, json::object());
}

Result<io::Reply> delete_tag(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string id = TRY(message.required_text("experiment_id"));
  const std::string key = TRY(message.required_text("key"));
  const Experiment experiment = TRY(find_active_experiment(call, id));
  if (!experiment.tags.contains(key)) {
    return fail(Code::NotFound, fmt::format("experiment '{}' has no tag '{}'", id, key));
  }
  track(call, store::TagExperiment{call.workspace->id, id, key, std::nullopt, now(call)});
  return json_reply(200, json::object());
}

constexpr Permission kRead =
    allow_jobs("Microsoft.MachineLearningServices/workspaces/experiments/read");
constexpr Permission kWrite =
    allow_jobs("Microsoft.MachineLearningServices/workspaces/experiments/write");
constexpr Permission kDelete =
    allow_people("Microsoft.MachineLearningServices/workspaces/experiments/delete");

constexpr Route kRoutes[] = {
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/experiments/create", kWrite, BodyKind::Json, create},
    {"GET", "/mlflow/v1.0/W/api/2.0/mlflow/experiments/get", kRead, BodyKind::None, get},
    {"GET", "/mlflow/v1.0/W/api/2.0/mlflow/experiments/get-by-name", kRead, BodyKind::None,
     get_by_name},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/experiments/search", kRead, BodyKind::Json, search},
    {"GET", "/mlflow/v1.0/W/api/2.0/mlflow/experiments/search", kRead, BodyKind::None, search},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/experiments/delete", kDelete, BodyKind::Json, remove},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/experiments/restore", kDelete, BodyKind::Json, restore},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/experiments/update", kWrite, BodyKind::Json, update},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/experiments/set-experiment-tag", kWrite, BodyKind::Json,
     set_tag},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/experiments/delete-experiment-tag", kWrite,
     BodyKind::Json, delete_tag},
};

}  // namespace

std::span<const Route> mlflow_experiment_routes() { return kRoutes; }

}  // namespace berth::server
