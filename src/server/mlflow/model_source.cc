// SPDX-License-Identifier: Apache-2.0
#include "server/mlflow/model_source.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/assets/reference.h"
#include "model/datastore.h"
#include "model/tracking.h"
#include "server/assets/logged_models.h"
#include "server/assets/model_files.h"
#include "server/mlflow/mlflow.h"
#include "server/mlflow/model_versions.h"
#include "server/plane/jobs_desk.h"
#include "server/plane/ledger.h"
#include "server/plane/references.h"

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

/// What lies directly at the root of the run's artifacts: "model/, notes.txt".
Result<std::string> artifacts_of(const Call& call, const std::string& run) {
  constexpr std::size_t kMostShown = 8;
  constexpr std::size_t kMostRead = 1000;
  const std::string prefix = model::artifact_prefix({call.workspace->id, run});
  std::vector<std::string> names;
  for (const store::Blob& blob :
       TRY(call.services.store.blobs({.workspace = call.workspace->id,
       .container = std::string(model::find_datastore(kArtifactStore)->container),
       .prefix = prefix,
       .limit = kMostRead}))) {
    const std::string rest = blob.key.path.substr(prefix.size());
    const std::string name = rest.substr(0, std::min(rest.find('/'), rest.size() - 1) + 1);
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  for (const model::LoggedModel& logged :
       TRY(logged_models_of(tracking_of(call), {call.workspace->id, run}, {}, kMostShown))) {
    names.push_back(fmt::format("the logged model {}", logged.name));
  }
  if (names.size() > kMostShown) {
    names.resize(kMostShown);
    names.emplace_back("…");
  }
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

/// Why there is nothing at the path, with what there is.
Result<ModelSource> nothing_at(const Call& call, const JobOutputRef& reference) {
  const auto job = call.services.jobs.find({call.workspace->id, reference.job});
  const bool is_live = job && !model::is_terminal(job->status);
  return fail(
      Code::NotFound,
      fmt::format("{} '{}' has no artifact '{}'; it has {}{}", job ? "job" : "run", reference.job,
                  to_valid_utf8(reference.path), TRY(artifacts_of(call, reference.job)),
                  is_live ? "; it is not over, and what it leaves in outputs/ is there "
                            "when it is"
                          : ""));
}

/// Among the run's artifacts, or in a model that it logged with MLflow 3.
Result<ModelSource> of_run(const Call& call, const JobOutputRef& reference) {
  const std::string root =
      model::artifact_uri(TRY(find_run(call, reference.job, Touch::Read))) + "/";
  if (!root.starts_with(kArtifacts)) {
    return ModelSource{.uri = root + reference.path, .run = reference.job};
  }
  std::string path = root.substr(root.find_first_not_of('/', kArtifacts.size())) + reference.path;
  while (path.ends_with('/')) path.pop_back();
  const auto container = model::find_datastore(kArtifactStore)->container;
  if (TRY(has_blobs(call, container, path))) {
    return ModelSource{.uri = datastore_uri(*call.workspace, kArtifactStore, path),
                       .run = reference.job};
  }
  const auto logged = TRY(
      path_of_logged_model(tracking_of(call), {call.workspace->id, reference.job}, reference.path));
  if (!logged || !TRY(has_blobs(call, container, *logged))) return nothing_at(call, reference);
  return ModelSource{.uri = datastore_uri(*call.workspace, kArtifactStore, *logged),
                     .run = reference.job};
}

/// A path in the artifact store. What a run logged as a model may be meant by a path among its
/// artifacts.
Result<ModelSource> of_artifact_path(const Call& call, const std::string& path) {
  const std::string run = run_of_path(path);
  ModelSource source{.uri = datastore_uri(*call.workspace, kArtifactStore, path), .run = run};
  const auto container = model::find_datastore(kArtifactStore)->container;
  const std::size_t rest = kRunFolder.size() + run.size() + 1;
  if (run.empty() || path.size() <= rest || TRY(has_blobs(call, container, path))) return source;
  return of_run(call, {.job = run, .output = "artifacts", .path = path.substr(rest)});
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
  return of_artifact_path(call, TRY(model::checked_blob_path(decoded)));
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

Result<ModelSource> of_job_output(const Call& call, const JobOutputRef& reference) {
  if (reference.output == "artifacts" || reference.output == "default") {
    return of_run(call, reference);
  }
  const model::Job job = TRY(call.services.jobs.find({call.workspace->id, reference.job}));
  BlobPlace place = TRY(find_output(job, reference.output));
  if (!reference.path.empty()) {
    if (!place.path.ends_with('/')) place.path += '/';
    place.path += reference.path;
  }
  if (!model::is_terminal(job.status) && !TRY(has_blobs(call, place.container, place.path))) {
    return fail(Code::NotFound, fmt::format("job '{}' is not over: its output '{}' is there when "
                                            "it is",
                                            job.key.name, reference.output));
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
  TRY(check_reach(call, found, Touch::Read));
  TRY(check_files(call.services.store, found));
  return ModelSource{.uri = text_member(found.body, "modelUri"),
                     .run = text_member(found.body, "jobName")};
}

}  // namespace

Result<ModelSource> source_of_uri(const Call& call, const std::string& uri) {
  const std::string own = "/blob/" + call.workspace->id.text;
  if (uri.find(own + "/") != std::string::npos || uri.find(own + ".blob.") != std::string::npos) {
    const BlobPlace place =
        TRY(blob_of_url(call.workspace->id, uri.substr(0, std::min(uri.find('?'), uri.size()))));
    return ModelSource{
        .uri = datastore_uri(*call.workspace, datastore_of(place.container), place.path)};
  }
  TRY(check_ids(call.services.ledger.state(), *call.workspace, boost::json::string(uri)));
  const DataRef reference = TRY(model::parse_data_ref(uri));
  if (const auto* output = std::get_if<JobOutputRef>(&reference)) {
    return of_job_output(call, *output);
  }
  if (const auto* path = std::get_if<DatastorePath>(&reference)) {
    if (path->datastore != kArtifactStore || run_of_path(path->path).empty()) {
      return ModelSource{.uri = uri};
    }
    return of_artifact_path(call, path->path);
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
