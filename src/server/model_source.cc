// SPDX-License-Identifier: Apache-2.0
#include "server/model_source.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/datastore.h"
#include "model/reference.h"
#include "model/tracking.h"
#include "server/control_plane.h"
#include "server/mlflow.h"
#include "server/model_versions.h"
#include "server/references.h"

namespace berth::server {
namespace {

using model::DataRef;
using model::DatastorePath;
using model::JobOutputRef;

constexpr std::string_view kArtifacts = "mlflow-artifacts:";
constexpr std::string_view kArtifactStore = "workspaceartifactstore";
constexpr std::string_view kRunFolder = "ExperimentRun/dcid.";
/// Stores that MLflow's clients read by themselves.
constexpr std::array<std::string_view, 15> kForeign = {"s3",   "s3a",   "gs",   "abfs", "abfss",
                                                       "wasb", "wasbs", "hdfs", "dbfs", "viewfs",
                                                       "ftp",  "sftp",  "r2",   "oci",  "adl"};

std::string datastore_uri(const model::Workspace& workspace, std::string_view datastore,
                          std::string_view path) {
  return fmt::format(
      "azureml://subscriptions/{}/resourcegroups/{}/workspaces/{}/datastores/{}/paths/{}",
      workspace.subscription, workspace.resource_group, workspace.name, datastore, path);
}

std::string_view datastore_of(std::string_view container) {
  const auto found = std::ranges::find(model::kDatastores, container, &model::Datastore::container);
  return found == model::kDatastores.end() ? "" : found->name;
}

/// "ExperimentRun/dcid.train-7/model" is of run "train-7".
std::string run_of_path(std::string_view path) {
  if (!path.starts_with(kRunFolder)) return {};
  path.remove_prefix(kRunFolder.size());
  return std::string(path.substr(0, path.find('/')));
}

Result<bool> has_blobs(const Call& call, std::string_view container, const std::string& path) {
  if (TRY(call.services.store.blob({call.workspace->id, std::string(container), path})))
    return true;
  const std::string folder = path.ends_with('/') ? path : path + "/";
  return !TRY(call.services.store.blobs({.workspace = call.workspace->id,
                                         .container = std::string(container),
                                         .prefix = folder,
                                         .limit = 1}))
              .empty();
}

/// mlflow-artifacts:/<path>, with or without a host.
Result<ModelSource> of_artifact(const Call& call, std::string_view text) {
  text.remove_prefix(kArtifacts.size());
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    text.remove_prefix(std::min(text.find('/'), text.size()));
  }
  while (text.starts_with('/')) text.remove_prefix(1);
  const std::string decoded = TRY(percent_decode(text));
  const std::string path = TRY(model::checked_blob_path(decoded));
  return ModelSource{.uri = datastore_uri(*call.workspace, kArtifactStore, path),
                     .run = run_of_path(path)};
}

Result<ModelSource> of_logged_model(const Call& call, const std::string& id) {
  const auto logged = TRY(tracking_of(call).logged_model(call.workspace->id, id));
  if (!logged || logged->is_deleted) {
    return fail(Code::NotFound, fmt::format("no logged model '{}'", to_valid_utf8(id)));
  }
  const std::string uri = model::artifact_uri(*logged);
  ModelSource source{.uri = uri};
  if (uri.starts_with(kArtifacts)) source = TRY(of_artifact(call, uri));
  source.run = logged->source_run;
  return source;
}

/// MLflow 3 keeps a model that a run logged beside the run, not among its artifacts.
Result<std::optional<ModelSource>> logged_by_run(const Call& call, const std::string& run,
                                                 const std::string& name) {
  const model::Run found = TRY(find_run(call, run));
  const auto models = TRY(tracking_of(call).logged_models(
      {.workspace = call.workspace->id,
       .experiments = {found.experiment},
       .filter = {{.key = "source_run_id", .value = run}, {.key = "name", .value = name}},
       .limit = 1},
      {}));
  if (models.empty()) return std::nullopt;
  return TRY(of_logged_model(call, models.front().id));
}

Result<ModelSource> of_run(const Call& call, const JobOutputRef& reference) {
  std::string path = model::artifact_prefix({call.workspace->id, reference.job}) + reference.path;
  while (path.ends_with('/')) path.pop_back();
  const auto container = model::find_datastore(kArtifactStore)->container;
  if (!TRY(has_blobs(call, container, path))) {
    if (auto logged = TRY(logged_by_run(call, reference.job, reference.path))) return *logged;
  }
  return ModelSource{.uri = datastore_uri(*call.workspace, kArtifactStore, path),
                     .run = reference.job};
}

Result<ModelSource> of_job_output(const Call& call, const JobOutputRef& reference) {
  if (reference.output == "artifacts" || reference.output == "default") {
    return of_run(call, reference);
  }
  const model::Job job = TRY(call.services.plane.job({call.workspace->id, reference.job}));
  BlobPlace place = TRY(find_output(job, reference.output));
  if (!reference.path.empty()) {
    if (!place.path.ends_with('/')) place.path += '/';
    place.path += reference.path;
  }
  return ModelSource{
      .uri = datastore_uri(*call.workspace, datastore_of(place.container), place.path),
      .run = reference.job};
}

/// models:/m-<id>, models:/<name>/<version> or models:/<name>@<alias>.
Result<ModelSource> of_model(const Call& call, std::string_view text) {
  std::string_view rest = text.substr(std::string_view("models:").size());
  while (rest.starts_with('/')) rest.remove_prefix(1);
  const std::size_t end = rest.find_first_of("/@");
  if (end == std::string_view::npos) return of_logged_model(call, std::string(rest));
  const std::string name(rest.substr(0, end));
  std::string version(rest.substr(end + 1));
  const model::AssetContainer model = TRY(find_model(call, name));
  if (rest[end] == '@') version = TRY(version_of_alias(model, version));
  const model::Asset found = TRY(find_model_version(call, name, version));
  return ModelSource{.uri = text_member(found.body, "modelUri"),
                     .run = text_member(found.body, "jobName")};
}

}  // namespace

Result<ModelSource> source_of_uri(const Call& call, const std::string& uri) {
  if (uri.find("/blob/" + call.workspace->id.text + "/") != std::string::npos) {
    const BlobPlace place =
        TRY(blob_of_url(call.workspace->id, uri.substr(0, std::min(uri.find('?'), uri.size()))));
    return ModelSource{
        .uri = datastore_uri(*call.workspace, datastore_of(place.container), place.path)};
  }
  const DataRef reference = TRY(model::parse_data_ref(uri));
  if (const auto* output = std::get_if<JobOutputRef>(&reference)) {
    return of_job_output(call, *output);
  }
  if (const auto* path = std::get_if<DatastorePath>(&reference)) {
    const bool is_artifact = path->datastore == kArtifactStore;
    return ModelSource{.uri = uri, .run = is_artifact ? run_of_path(path->path) : std::string()};
  }
  if (std::holds_alternative<model::WebAddress>(reference)) return ModelSource{.uri = uri};
  return fail(Code::InvalidArgument, "a model's files cannot be another asset");
}

Result<ModelSource> source_of_mlflow(const Call& call, const std::string& source) {
  const std::string scheme = to_lower(source.substr(0, std::min(source.find(':'), source.size())));
  if (scheme.size() == source.size() || scheme == "file" || scheme.size() == 1) {
    return fail(
        Code::InvalidArgument,
        fmt::format("'{}' is a path of your machine, where nobody else can fetch the model: "
                    "log it first, and register runs:/… or models:/…",
                    to_valid_utf8(source)),
        "source");
  }
  if (scheme == "mlflow-artifacts") return of_artifact(call, source);
  if (scheme == "models") return of_model(call, source);
  if (std::ranges::count(kForeign, scheme) > 0) return ModelSource{.uri = source};
  return source_of_uri(call, source);
}

Result<std::string> download_uri(const model::Asset& version) {
  const std::string uri = text_member(version.body, "modelUri");
  if (!uri.starts_with("azureml:") && !uri.starts_with("runs:")) return uri;
  const DataRef reference = TRY(model::parse_data_ref(uri));
  const auto* path = std::get_if<DatastorePath>(&reference);
  if (path == nullptr) return uri;
  if (path->datastore == kArtifactStore) return fmt::format("{}/{}", kArtifacts, path->path);
  return fmt::format("{}/datastores/{}/{}", kArtifacts, path->datastore, path->path);
}

}  // namespace berth::server
