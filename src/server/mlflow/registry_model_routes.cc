// SPDX-License-Identifier: Apache-2.0
// MLflow's registered models: Azure ML's models, as a whole.
#include "base/text.h"
#include "model/labels.h"
#include "server/assets/asset_versions.h"
#include "server/door/route.h"
#include "server/mlflow/mlflow.h"
#include "server/mlflow/model_search.h"
#include "server/mlflow/model_versions.h"
#include "server/plane/ledger.h"
#include "wire/mlflow/registry.h"

namespace berth::server {
namespace {

namespace json = boost::json;
namespace mlflow = wire::mlflow;
using mlflow::Message;
using model::AssetContainer;

constexpr auto kKind = model::AssetKind::Model;
constexpr std::int64_t kMostModels = 1000;
constexpr std::int64_t kModelsOnPage = 100;
constexpr std::string_view kIsPrompt = "mlflow.prompt.is_prompt";

WallTime now(const Call& call) { return call.services.clock.now().wall; }

Result<AssetContainer> named_model(const Call& call, const Message& message, Touch touch) {
  const std::string name = TRY(message.required_text("name"));
  AssetContainer model = TRY(find_model(call, name));
  TRY(check_reach(call, model, touch));
  return model;
}

/// Those that the caller may see.
Result<std::vector<model::Asset>> seen_versions(const Call& call, const std::string& name) {
  std::vector<model::Asset> versions = TRY(latest_versions(call, name));
  std::erase_if(versions, [&](const model::Asset& version) {
    return !check_reach(call, version, Touch::Read);
  });
  return versions;
}

Result<json::object> view_of(const Call& call, const AssetContainer& model) {
  return mlflow::to_json(model, TRY(seen_versions(call, model.name)));
}

/// Writes the model and answers with it as it is then.
Result<io::Reply> put_model(Call& call, AssetContainer model) {
  model.modified_at = now(call);
  json::object view = TRY(view_of(call, model));
  call.services.ledger.write({store::PutContainer{std::move(model)}});
  return json_reply(200, json::object{{"registered_model", std::move(view)}});
}

Status check_is_free(const Call& call, const std::string& name) {
  if (!TRY(call.services.store.container(call.workspace->id, kKind, name))) return Done{};
  return fail(Code::Conflict, fmt::format("registered model '{}' exists already", name));
}

Result<io::Reply> create(Call& call) {
  const Message message = TRY(message_of(call));
  AssetContainer model{.workspace = call.workspace->id, .kind = kKind, .created_at = now(call)};
  model.name = TRY(message.text("name"));
  TRY(mlflow::check_registered_name(model.name));
  model.description = TRY(message.text("description"));
  for (auto& [key, value] : TRY(message.pairs("tags"))) {
    TRY(mlflow::check_registry_tag(key, value));
    if (key == kIsPrompt && value == "true") {
      return fail(Code::NotSupported, "prompts are not supported; models are");
    }
    model.tags[key] = value;
  }
  TRY(check_is_free(call, model.name));
  model.made_by = maker_of(call);
  return put_model(call, std::move(model));
}

Result<io::Reply> get(Call& call) {
  const Message message = TRY(message_of(call));
  const AssetContainer model = TRY(named_model(call, message, Touch::Read));
  return json_reply(200, json::object{{"registered_model", TRY(view_of(call, model))}});
}

/// The versions come along: their ARM ids, too, have the new name from then on.
Result<io::Reply> rename(Call& call) {
  const Message message = TRY(message_of(call));
  AssetContainer model = TRY(named_model(call, message, Touch::Write));
  const std::string name = TRY(message.text("new_name"));
  TRY(mlflow::check_registered_name(name, "new_name"));
  TRY(check_is_free(call, name));
  std::vector<model::Asset> latest = TRY(latest_versions(call, model.name));
  for (model::Asset& version : latest) version.name = name;
  const std::string old_name = std::exchange(model.name, name);
  model.modified_at = now(call);
  json::object view = mlflow::to_json(model, latest);
  call.services.ledger.write({store::RenameContainer{old_name, std::move(model)}});
  return json_reply(200, json::object{{"registered_model", std::move(view)}});
}

Result<io::Reply> update(Call& call) {
  const Message message = TRY(message_of(call));
  AssetContainer model = TRY(named_model(call, message, Touch::Write));
  if (message.has("description")) model.description = TRY(message.text("description"));
  return put_model(call, std::move(model));
}

Result<io::Reply> remove(Call& call) {
  const Message message = TRY(message_of(call));
  const AssetContainer model = TRY(named_model(call, message, Touch::Write));
  call.services.ledger.write(
      TRY(removal_of_all(call.services.store, model.workspace, kKind, model.name)));
  return json_reply(200, json::object());
}

Result<io::Reply> search(Call& call) {
  const Message message = TRY(message_of(call));
  const store::ModelQuery query = TRY(model_query(call, message, mlflow::Subject::RegisteredModels,
                                                  {.usual = kModelsOnPage, .most = kMostModels}));
  store::Page<AssetContainer> found = TRY(call.services.store.search_models(query));
  json::object answer;
  answer["next_page_token"] = take_model_page(found, query);
  json::array models;
  for (const AssetContainer& model : found) {
    if (check_reach(call, model, Touch::Read)) models.push_back(TRY(view_of(call, model)));
  }
  answer["registered_models"] = std::move(models);
  return json_reply(200, answer);
}

Result<io::Reply> get_latest_versions(Call& call) {
  const Message message = TRY(message_of(call));
  const AssetContainer model = TRY(named_model(call, message, Touch::Read));
  std::vector<std::string_view> stages;
  for (const std::string& stage : TRY(message.texts("stages"))) {
    stages.push_back(TRY(mlflow::stage_from(stage)));
  }
  json::array versions;
  for (const model::Asset& version : TRY(seen_versions(call, model.name))) {
    const bool is_wanted =
        stages.empty() || std::ranges::count(stages, mlflow::stage_of(version)) > 0;
    if (is_wanted) versions.push_back(mlflow::to_json(version, model));
  }
  return json_reply(200, json::object{{"model_versions", std::move(versions)}});
}

// ---- Tags and aliases --------------------------------------------------------------------------

Result<io::Reply> set_tag(Call& call) {
  const Message message = TRY(message_of(call));
  AssetContainer model = TRY(named_model(call, message, Touch::Write));
  const std::string key = TRY(message.required_text("key"));
  const std::string value = TRY(message.text("value"));
  TRY(mlflow::check_registry_tag(key, value));
  model.tags[key] = value;
  TRY(model::check_room(model::bytes_of(model.tags), model::kMostTagBytes,
                        fmt::format("the tags of model '{}'", model.name)));
  TRY(put_model(call, std::move(model)));
  return json_reply(200, json::object());
}

Result<io::Reply> delete_tag(Call& call) {
  const Message message = TRY(message_of(call));
  AssetContainer model = TRY(named_model(call, message, Touch::Write));
  const std::string key = TRY(message.required_text("key"));
  if (model.tags.erase(key) > 0) TRY(put_model(call, std::move(model)));
  return json_reply(200, json::object());
}

Result<io::Reply> set_alias(Call& call) {
  const Message message = TRY(message_of(call));
  AssetContainer model = TRY(named_model(call, message, Touch::Read));
  TRY(check_may_promote(call, model));
  const std::string alias = TRY(message.text("alias"));
  TRY(mlflow::check_alias(alias));
  const std::string version = TRY(message.required_text("version"));
  TRY(find_model_version(call, model.name, version));
  model.labels[alias] = version;
  TRY(put_model(call, std::move(model)));
  return json_reply(200, json::object());
}

Result<io::Reply> delete_alias(Call& call) {
  const Message message = TRY(message_of(call));
  AssetContainer model = TRY(named_model(call, message, Touch::Read));
  TRY(check_may_promote(call, model));
  const std::string alias = TRY(message.required_text("alias"));
  if (model.labels.erase(alias) > 0) TRY(put_model(call, std::move(model)));
  return json_reply(200, json::object());
}

Result<io::Reply> get_by_alias(Call& call) {
  const Message message = TRY(message_of(call));
  const AssetContainer model = TRY(named_model(call, message, Touch::Read));
  const std::string alias = TRY(message.required_text("alias"));
  const std::string number = TRY(version_of_alias(model, alias));
  const model::Asset version = TRY(find_model_version(call, model.name, number));
  TRY(check_reach(call, version, Touch::Read));
  return json_reply(200, json::object{{"model_version", mlflow::to_json(version, model)}});
}

constexpr Permission kRead = allow_jobs("Microsoft.MachineLearningServices/workspaces/models/read");
constexpr Permission kWrite =
    allow_jobs("Microsoft.MachineLearningServices/workspaces/models/write");
constexpr Permission kDelete =
    allow_people("Microsoft.MachineLearningServices/workspaces/models/delete");
constexpr Permission kRename =
    allow_people("Microsoft.MachineLearningServices/workspaces/models/write");

#define REGISTERED_MODELS "/mlflow/v1.0/W/api/2.0/mlflow/registered-models/"
constexpr Route kRoutes[] = {
    {"POST", REGISTERED_MODELS "create", kWrite, BodyKind::Json, create},
    {"POST", REGISTERED_MODELS "rename", kRename, BodyKind::Json, rename},
    {"PATCH", REGISTERED_MODELS "update", kWrite, BodyKind::Json, update},
    {"DELETE", REGISTERED_MODELS "delete", kDelete, BodyKind::Json, remove},
    {"GET", REGISTERED_MODELS "get", kRead, BodyKind::None, get},
    {"GET", REGISTERED_MODELS "search", kRead, BodyKind::None, search},
    {"GET", REGISTERED_MODELS "get-latest-versions", kRead, BodyKind::None, get_latest_versions},
    {"POST", REGISTERED_MODELS "get-latest-versions", kRead, BodyKind::Json, get_latest_versions},
    {"POST", REGISTERED_MODELS "set-tag", kWrite, BodyKind::Json, set_tag},
    {"DELETE", REGISTERED_MODELS "delete-tag", kWrite, BodyKind::Json, delete_tag},
    {"POST", REGISTERED_MODELS "alias", kWrite, BodyKind::Json, set_alias},
    {"DELETE", REGISTERED_MODELS "alias", kWrite, BodyKind::Json, delete_alias},
    {"GET", REGISTERED_MODELS "alias", kRead, BodyKind::None, get_by_alias},
};
#undef REGISTERED_MODELS

}  // namespace

std::span<const Route> registry_model_routes() { return kRoutes; }

}  // namespace berth::server
