// SPDX-License-Identifier: Apache-2.0
// MLflow's model versions: versions of Azure ML's models.
#include "base/text.h"
#include "model/labels.h"
#include "server/assets/asset_versions.h"
#include "server/assets/model_files.h"
#include "server/door/route.h"
#include "server/mlflow/mlflow.h"
#include "server/mlflow/model_search.h"
#include "server/mlflow/model_source.h"
#include "server/mlflow/model_versions.h"
#include "server/plane/ledger.h"
#include "wire/mlflow/registry.h"

namespace berth::server {
namespace {

namespace json = boost::json;
namespace mlflow = wire::mlflow;
using mlflow::Message;
using model::Asset;
using model::AssetContainer;

constexpr auto kKind = model::AssetKind::Model;
constexpr std::int64_t kMostVersions = 200'000;
constexpr std::int64_t kVersionsOnPage = 10'000;  ///< However many are asked for.

WallTime now(const Call& call) { return call.services.clock.now().wall; }

/// The version that a request names, and its model.
struct Named {
  AssetContainer model{};
  Asset version{};
};

Result<Named> named_version(const Call& call, const Message& message, Touch touch) {
  const std::string name = TRY(message.required_text("name"));
  const std::string version = TRY(message.required_text("version"));
  Named named;
  named.model = TRY(find_model(call, name));
  named.version = TRY(find_model_version(call, name, version));
  TRY(check_reach(call, named.version, touch));
  return named;
}

/// Writes both, and answers with the version.
io::Reply put_version(Call& call, Named named) {
  named.version.modified_at = named.model.modified_at = now(call);
  json::object view = mlflow::to_json(named.version, named.model);
  store::Batch rows;
  rows.push_back(store::PutAsset{std::move(named.version)});
  rows.push_back(store::PutContainer{std::move(named.model)});
  call.services.ledger.write(std::move(rows));
  return json_reply(200, json::object{{"model_version", std::move(view)}});
}

/// The version as the request describes it, with its files found.
Result<Asset> described_version(const Call& call, const Message& message) {
  Asset version{.workspace = call.workspace->id, .kind = kKind};
  version.name = TRY(message.required_text("name"));
  version.origin.source = TRY(message.required_text("source"));
  const ModelSource source = TRY(source_of_mlflow(call, version.origin.source));
  TRY(check_address(call, source.uri, Touch::Read));
  version.body = {
      {"modelUri", source.uri}, {"modelType", "mlflow_model"}, {"flavors", json::object()}};
  const std::string run = TRY(message.text("run_id"));
  if (maker_of(call) != 0 && !run.empty()) TRY(find_run(call, run, Touch::Read));
  if (const std::string& made_by = run.empty() ? source.run : run; !made_by.empty()) {
    version.body["jobName"] = made_by;
  }
  version.origin.run_link = TRY(message.text("run_link"));
  version.origin.logged_model = TRY(message.text("model_id"));
  version.origin.user = call.principal.name;
  version.origin.made_by = maker_of(call);
  version.description = TRY(message.text("description"));
  for (auto& [key, value] : TRY(message.pairs("tags"))) {
    TRY(mlflow::check_registry_tag(key, value));
    version.tags[key] = value;
  }
  return version;
}

Result<io::Reply> create(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string name = TRY(message.required_text("name"));
  TRY(find_model(call, name));
  Asset version = TRY(described_version(call, message));
  store::Batch files = TRY(pin_files(call.services.store, version));
  store::Batch rows = TRY(new_version(call.services.store, std::move(version), now(call)));
  json::object view = mlflow::to_json(std::get<store::PutAsset>(rows[0]).asset,
                                      std::get<store::PutContainer>(rows[1]).container);
  std::ranges::move(files, std::back_inserter(rows));
  call.services.ledger.write(std::move(rows));
  return json_reply(200, json::object{{"model_version", std::move(view)}});
}

Result<io::Reply> get(Call& call) {
  const Message message = TRY(message_of(call));
  const Named named = TRY(named_version(call, message, Touch::Read));
  return json_reply(200,
                    json::object{{"model_version", mlflow::to_json(named.version, named.model)}});
}

Result<io::Reply> update(Call& call) {
  const Message message = TRY(message_of(call));
  Named named = TRY(named_version(call, message, Touch::Write));
  if (message.has("description")) named.version.description = TRY(message.text("description"));
  return put_version(call, std::move(named));
}

Result<io::Reply> get_download_uri(Call& call) {
  const Message message = TRY(message_of(call));
  const Named named = TRY(named_version(call, message, Touch::Read));
  TRY(check_files(call.services.store, named.version));
  return json_reply(200, json::object{{"artifact_uri", TRY(download_uri(named.version))}});
}

/// Number, labels and all: the number is not given out again.
Result<io::Reply> remove(Call& call) {
  const Message message = TRY(message_of(call));
  const Named named = TRY(named_version(call, message, Touch::Write));
  call.services.ledger.write(TRY(removal_of(call.services.store, named.version, now(call))));
  return json_reply(200, json::object());
}

// ---- Stages ------------------------------------------------------------------------------------

/// The versions beside this one that are in the stage.
Result<std::vector<Asset>> others_in(const Call& call, const Asset& version,
                                     std::string_view stage) {
  std::vector<Asset> others;
  store::ModelQuery query{.workspace = version.workspace,
                          .filter = {{.key = "name", .value = version.name}},
                          .limit = static_cast<std::size_t>(kMostVersions)};
  for (bool has_more = true; has_more;) {
    store::Page<Asset> page = TRY(call.services.store.search_model_versions(query));
    has_more = page.is_cut;
    query.skip += page.size();
    for (Asset& other : page) {
      if (other.version == version.version || mlflow::stage_of(other) != stage) continue;
      others.push_back(std::move(other));
    }
  }
  return others;
}

Result<io::Reply> transition_stage(Call& call) {
  const Message message = TRY(message_of(call));
  Named named = TRY(named_version(call, message, Touch::Read));
  TRY(check_may_promote(call, named.model));
  const std::string_view stage = TRY(mlflow::stage_from(TRY(message.required_text("stage"))));
  const bool is_active = stage == "Staging" || stage == "Production";
  if (TRY(message.boolean("archive_existing_versions", false))) {
    if (!is_active) {
      return fail(Code::InvalidArgument,
                  "existing versions are archived for Staging and Production only",
                  "archive_existing_versions");
    }
    store::Batch rows;
    for (Asset& other : TRY(others_in(call, named.version, stage))) {
      mlflow::set_stage(other, "Archived");
      other.modified_at = now(call);
      rows.push_back(store::PutAsset{std::move(other)});
    }
    if (!rows.empty()) call.services.ledger.write(std::move(rows));
  }
  mlflow::set_stage(named.version, stage);
  return put_version(call, std::move(named));
}

// ---- Search and tags ---------------------------------------------------------------------------

/// The labels of a version are in its model: each model is read once.
class Models {
 public:
  explicit Models(const Call& call) : call_(call) {}
  Result<const AssetContainer*> of(const std::string& name) {
    auto found = models_.find(name);
    if (found == models_.end()) found = models_.emplace(name, TRY(find_model(call_, name))).first;
    return &found->second;
  }

 private:
  const Call& call_;
  std::map<std::string, AssetContainer> models_;
};

Result<io::Reply> search(Call& call) {
  const Message message = TRY(message_of(call));
  store::ModelQuery query = TRY(
      model_query(call, message, mlflow::Subject::ModelVersions, {kVersionsOnPage, kMostVersions}));
  query.limit = std::min<std::size_t>(query.limit, kVersionsOnPage + 1);
  store::Page<Asset> found = TRY(call.services.store.search_model_versions(query));
  json::object answer;
  answer["next_page_token"] = take_model_page(found, query);
  Models models(call);
  json::array versions;
  for (const Asset& version : found) {
    if (!check_reach(call, version, Touch::Read)) continue;
    const AssetContainer* model = TRY(models.of(version.name));
    versions.push_back(mlflow::to_json(version, *model));
  }
  answer["model_versions"] = std::move(versions);
  return json_reply(200, answer);
}

Result<io::Reply> set_tag(Call& call) {
  const Message message = TRY(message_of(call));
  Named named = TRY(named_version(call, message, Touch::Write));
  const std::string key = TRY(message.required_text("key"));
  const std::string value = TRY(message.text("value"));
  TRY(mlflow::check_registry_tag(key, value));
  named.version.tags[key] = value;
  TRY(model::check_room(model::bytes_of(named.version.tags), model::kMostTagBytes,
                        fmt::format("the tags of model '{}'", named.version.name)));
  put_version(call, std::move(named));
  return json_reply(200, json::object());
}

Result<io::Reply> delete_tag(Call& call) {
  const Message message = TRY(message_of(call));
  Named named = TRY(named_version(call, message, Touch::Write));
  const std::string key = TRY(message.required_text("key"));
  if (named.version.tags.erase(key) > 0) put_version(call, std::move(named));
  return json_reply(200, json::object());
}

constexpr Permission kRead =
    allow_jobs("Microsoft.MachineLearningServices/workspaces/models/versions/read");
constexpr Permission kWrite =
    allow_jobs("Microsoft.MachineLearningServices/workspaces/models/versions/write");
constexpr Permission kDelete =
    allow_people("Microsoft.MachineLearningServices/workspaces/models/versions/delete");

#define MODEL_VERSIONS "/mlflow/v1.0/W/api/2.0/mlflow/model-versions/"
constexpr Route kRoutes[] = {
    {"POST", MODEL_VERSIONS "create", kWrite, BodyKind::Json, create},
    {"PATCH", MODEL_VERSIONS "update", kWrite, BodyKind::Json, update},
    {"POST", MODEL_VERSIONS "transition-stage", kWrite, BodyKind::Json, transition_stage},
    {"DELETE", MODEL_VERSIONS "delete", kDelete, BodyKind::Json, remove},
    {"GET", MODEL_VERSIONS "get", kRead, BodyKind::None, get},
    {"GET", MODEL_VERSIONS "search", kRead, BodyKind::None, search},
    {"GET", MODEL_VERSIONS "get-download-uri", kRead, BodyKind::None, get_download_uri},
    {"POST", MODEL_VERSIONS "set-tag", kWrite, BodyKind::Json, set_tag},
    {"DELETE", MODEL_VERSIONS "delete-tag", kWrite, BodyKind::Json, delete_tag},
};
#undef MODEL_VERSIONS

}  // namespace

std::span<const Route> registry_version_routes() { return kRoutes; }

}  // namespace berth::server
