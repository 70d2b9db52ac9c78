// SPDX-License-Identifier: Apache-2.0
#include "server/plane/references.h"

#include "base/text.h"
#include "core/rules/workspace_rules.h"
#include "model/assets/reference_scope.h"
#include "model/datastore.h"
#include "server/assets/logged_models.h"
#include "server/assets/model_files.h"
#include "server/plane/jobs_desk.h"

namespace berth::server {
namespace {

using model::AssetKind;
using model::AssetRef;
using model::DataRef;
using model::DatastorePath;
using model::DataType;
using model::JobOutputRef;
using model::WebAddress;
using model::WorkspaceId;

std::string as_folder(std::string path) {
  if (!path.empty() && path.back() != '/') path += '/';
  return path;
}

bool is_model(DataType type) {
  return type == DataType::CustomModel || type == DataType::MlflowModel ||
         type == DataType::TritonModel;
}

/// One file, a folder, or whichever is there: models may be either.
enum class Shape { File, Folder, Either };

Shape shape_of(DataType type) {
  if (type == DataType::UriFile) return Shape::File;
  return is_model(type) ? Shape::Either : Shape::Folder;
}

Result<BlobPlace> look_up(store::Store& store, const WorkspaceId& workspace, BlobPlace place,
                          Shape shape) {
  if (shape != Shape::Folder) {
    if (TRY(store.blob({workspace, place.container, place.path}))) return place;
    if (shape == Shape::File) {
      return fail(Code::NotFound,
                  fmt::format("there is no file '{}' in the datastore", place.path));
    }
  }
  place.path = as_folder(place.path);
  place.is_folder = true;
  const auto first = TRY(store.blobs(
      {.workspace = workspace, .container = place.container, .prefix = place.path, .limit = 1}));
  if (first.empty()) {
    return fail(Code::NotFound,
                fmt::format("there is nothing below '{}' in the datastore", place.path));
  }
  return place;
}

Result<BlobPlace> on_datastore(const DatastorePath& reference) {
  const auto datastore = model::find_datastore(reference.datastore);
  if (!datastore) {
    return fail(
        Code::NotFound,
        fmt::format("no datastore '{}'; there are: workspaceblobstore, workspaceartifactstore",
                    reference.datastore));
  }
  return BlobPlace{std::string(datastore->container), reference.path, false};
}

/// A model that the job logged with MLflow 3, when the job has no artifact of that name.
Result<std::optional<BlobPlace>> logged_model_at(const Catalogue& catalogue,
                                                 const BlobPlace& artifacts,
                                                 const WorkspaceId& workspace,
                                                 const JobOutputRef& reference) {
  std::string path = artifacts.path + reference.path;
  while (path.ends_with('/')) path.pop_back();
  if (TRY(catalogue.store.blob({workspace, artifacts.container, path}))) return std::nullopt;
  const auto first = TRY(catalogue.store.blobs({.workspace = workspace,
                                                .container = artifacts.container,
                                                .prefix = path + "/",
                                                .limit = 1}));
  if (!first.empty()) return std::nullopt;
  const auto logged = TRY(
      path_of_logged_model(catalogue.store.tracking(), {workspace, reference.job}, reference.path));
  if (!logged) return std::nullopt;
  return BlobPlace{artifacts.container, *logged, false};
}

Result<BlobPlace> of_job(const Catalogue& catalogue, const WorkspaceId& workspace,
                         const JobOutputRef& reference) {
  const model::Job job = TRY(catalogue.jobs.find({workspace, reference.job}));
  if (catalogue.jobs.is_going(job.key)) {
    return fail(Code::Conflict, fmt::format("job '{}' is being deleted", job.key.name));
  }
  if (!model::is_terminal(job.status)) {
    return fail(Code::Conflict,
                fmt::format("job '{}' is not over, so it has no outputs yet", job.key.name));
  }
  BlobPlace place;
  if (reference.output == "artifacts" || reference.output == "default") {
    place = {"azureml", model::artifact_prefix(job.key), true};
    if (const auto logged = TRY(logged_model_at(catalogue, place, workspace, reference)))
      return *logged;
  } else {
    place = TRY(find_output(job, reference.output));
  }
  if (!reference.path.empty()) {
    place.path = as_folder(place.path) + reference.path;
    place.is_folder = false;
  }
  return place;
}

std::string_view noun(AssetKind kind) { return kind == AssetKind::Data ? "data" : "model"; }

/// Only models have labels beside "latest".
Result<std::string> version_of_label(store::Store& store, const WorkspaceId& workspace,
                                     AssetKind kind, const AssetRef& reference) {
  if (const auto container = TRY(store.container(workspace, kind, reference.name))) {
    const auto found = container->labels.find(reference.label);
    if (found != container->labels.end()) return found->second;
  }
  return fail(Code::NotFound, fmt::format("no {} asset '{}' with the label '{}'", noun(kind),
                                          reference.name, reference.label));
}

std::string uri_member(const boost::json::object& body, std::string_view key) {
  const boost::json::value* found = body.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

/// What asks for one workspace's things in another's name gets none, not even those of its own that
/// happen to be called the same.
Status check_scope(const Catalogue& catalogue, const WorkspaceId& workspace,
                   const std::string& reference) {
  const model::Workspace* own = core::find_workspace(catalogue.state, workspace);
  if (own == nullptr) return Done{};
  TRY(model::check_workspace(*own, reference));
  return check_blob_url(catalogue.state, *own, reference);
}

Result<Place> of_asset(const Catalogue& catalogue, const WorkspaceId& workspace,
                       const AssetRef& reference, DataType type) {
  const AssetKind kind = is_model(type) ? AssetKind::Model : AssetKind::Data;
  const model::Asset asset = TRY(find_asset(catalogue, workspace, kind, reference));
  if (kind == AssetKind::Model) TRY(check_files(catalogue.store, asset));
  const std::string uri = uri_member(asset.body, kind == AssetKind::Data ? "dataUri" : "modelUri");
  TRY(check_scope(catalogue, workspace, uri));
  const DataRef target = TRY(model::parse_data_ref(uri));
  if (const auto* web = std::get_if<WebAddress>(&target)) return Place(*web);
  BlobPlace place;
  if (const auto* path = std::get_if<DatastorePath>(&target)) {
    place = TRY(on_datastore(*path));
  } else if (const auto* output = std::get_if<JobOutputRef>(&target)) {
    place = TRY(of_job(catalogue, workspace, *output));
  } else {
    return fail(Code::InvalidArgument,
                fmt::format("asset '{}' refers to another asset", asset.name));
  }
  place = TRY(look_up(catalogue.store, workspace, place, shape_of(type)));
  return Place(std::move(place));
}

}  // namespace

Status check_blob_url(const core::State& state, const model::Workspace& own, std::string_view url) {
  const auto other = model::workspace_of_blob_url(url);
  if (!other || *other == own.id.text ||
      core::find_workspace(state, WorkspaceId{*other}) == nullptr) {
    return Done{};
  }
  return fail(Code::InvalidArgument,
              fmt::format("'{}' is in the store of another workspace than '{}'; what is of another "
                          "cannot be used here",
                          to_valid_utf8(url.substr(0, url.find('?'))), own.name));
}

Status check_ids(const core::State& state, const model::Workspace& own,
                 const boost::json::value& value) {
  if (const auto* text = value.if_string()) {
    TRY(model::check_workspace(own, *text));
    return check_blob_url(state, own, *text);
  }
  if (const auto* list = value.if_array()) {
    for (const boost::json::value& item : *list) TRY(check_ids(state, own, item));
  }
  if (const auto* object = value.if_object()) {
    for (const auto& member : *object) TRY(check_ids(state, own, member.value()));
  }
  return Done{};
}

Result<model::Asset> find_asset(const Catalogue& catalogue, const WorkspaceId& workspace,
                                AssetKind kind, const AssetRef& reference) {
  std::string version = reference.version;
  const bool has_label = !reference.label.empty() && reference.label != "latest";
  if (has_label) version = TRY(version_of_label(catalogue.store, workspace, kind, reference));
  const auto found = version.empty()
                         ? TRY(catalogue.store.latest_asset(workspace, kind, reference.name))
                         : TRY(catalogue.store.asset(workspace, kind, reference.name, version));
  if (found) return *found;
  return fail(Code::NotFound,
              fmt::format("no {} asset '{}'{}", noun(kind), reference.name,
                          version.empty() ? "" : fmt::format(" version '{}'", version)));
}

Result<Place> find_input(const Catalogue& catalogue, const WorkspaceId& workspace,
                         const model::JobInput& input) {
  TRY(check_scope(catalogue, workspace, input.uri));
  const DataRef reference = TRY(model::parse_data_ref(input.uri));
  if (const auto* web = std::get_if<WebAddress>(&reference)) {
    if (input.type == DataType::UriFile) return Place(*web);
    return fail(Code::InvalidArgument, "a web address can only be a uri_file");
  }
  if (const auto* asset = std::get_if<AssetRef>(&reference)) {
    return of_asset(catalogue, workspace, *asset, input.type);
  }
  BlobPlace place;
  if (const auto* path = std::get_if<DatastorePath>(&reference)) {
    place = TRY(on_datastore(*path));
  } else {
    place = TRY(of_job(catalogue, workspace, std::get<JobOutputRef>(reference)));
  }
  place = TRY(look_up(catalogue.store, workspace, place, shape_of(input.type)));
  return Place(std::move(place));
}

Result<BlobPlace> find_output(const model::Job& job, const std::string& output) {
  const auto found = job.spec->outputs.find(output);
  if (found == job.spec->outputs.end()) {
    return fail(Code::NotFound, fmt::format("job '{}' has no output '{}'", job.key.name, output));
  }
  const DataRef reference = TRY(model::parse_data_ref(model::output_uri(job, output)));
  const auto* path = std::get_if<DatastorePath>(&reference);
  if (path == nullptr) {
    return fail(Code::InvalidArgument, fmt::format("output '{}' is not a datastore path", output));
  }
  BlobPlace place = TRY(on_datastore(*path));
  if (found->second.type != DataType::UriFile) {
    place.path = as_folder(place.path);
    place.is_folder = true;
  }
  return place;
}

Result<BlobPlace> blob_of_url(const WorkspaceId& workspace, const std::string& url) {
  if (url.starts_with("azureml://")) {
    const DataRef reference = TRY(model::parse_data_ref(url));
    if (const auto* path = std::get_if<DatastorePath>(&reference)) return on_datastore(*path);
  }
  const std::string marker = "/blob/" + workspace.text;
  const std::size_t at = url.find(marker);
  std::string_view rest =
      std::string_view(url).substr(at == std::string::npos ? url.size() : at + marker.size());
  // Clients that put the address together themselves write an account's suffix there.
  if (rest.starts_with(".blob.")) rest.remove_prefix(std::min(rest.find('/'), rest.size()));
  rest.remove_prefix(rest.starts_with('/') ? 1 : rest.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) {
    return fail(Code::InvalidArgument,
                fmt::format("'{}' is not in a datastore of this workspace", url));
  }
  const std::string decoded = TRY(percent_decode(rest.substr(slash + 1)));
  std::string path = TRY(model::checked_blob_path(decoded));
  return BlobPlace{std::string(rest.substr(0, slash)), std::move(path), false};
}

Result<BlobPlace> find_code(const Catalogue& catalogue, const WorkspaceId& workspace,
                            const std::string& code_id) {
  TRY(check_scope(catalogue, workspace, code_id));
  const AssetRef reference = TRY(model::parse_asset_ref(AssetKind::Code, code_id));
  const auto code =
      TRY(catalogue.store.asset(workspace, AssetKind::Code, reference.name, reference.version));
  if (!code) {
    return fail(Code::NotFound,
                fmt::format("no code '{}' version '{}'", reference.name, reference.version));
  }
  BlobPlace place = TRY(blob_of_url(workspace, uri_member(code->body, "codeUri")));
  place.path = as_folder(place.path);
  place.is_folder = true;
  return place;
}

Result<std::string> digest_of_code(const Catalogue& catalogue, const WorkspaceId& workspace,
                                   const std::string& code_id) {
  if (code_id.empty()) return std::string();
  const BlobPlace code = TRY(find_code(catalogue, workspace, code_id));
  return digest_of(TRY(blobs_below(catalogue.store, workspace, code.container, code.path)), "");
}

/// What is handed over as it is need not be here, but it is not another workspace's either.
static Status check_input(const Catalogue& catalogue, const WorkspaceId& workspace,
                          const model::JobInput& input) {
  if (input.mode == model::DataMode::Direct) return check_scope(catalogue, workspace, input.uri);
  TRY(find_input(catalogue, workspace, input));
  return Done{};
}

Status check_references(const Catalogue& catalogue, const WorkspaceId& workspace,
                        const model::JobSpec& spec) {
  const auto blame = [](Error error, const std::string& what, const std::string& target) {
    error.message = fmt::format("{}: {}", what, error.message);
    error.target = target;
    if (error.code == Code::NotFound) error.code = Code::InvalidArgument;
    return fail(std::move(error));
  };
  const model::CommandWork& work = command_of(spec);
  if (!work.code_id.empty()) {
    const auto code = find_code(catalogue, workspace, work.code_id);
    if (!code) return blame(code.error(), "code", "properties.codeId");
  }
  for (const auto& [id, target] : {std::pair(&work.environment_id, "environmentId"),
                                   std::pair(&spec.component_id, "componentId")}) {
    const Status ours = check_scope(catalogue, workspace, *id);
    if (!ours) return blame(ours.error(), target, fmt::format("properties.{}", target));
  }
  for (const auto& [name, output] : spec.outputs) {
    const Status ours = check_scope(catalogue, workspace, output.uri);
    if (ours) continue;
    return blame(ours.error(), fmt::format("output '{}'", name), "properties.outputs." + name);
  }
  for (const auto& [name, input] : spec.inputs) {
    if (input.type == DataType::Literal) continue;
    const Status there = check_input(catalogue, workspace, input);
    if (!there) {
      return blame(there.error(), fmt::format("input '{}'", name), "properties.inputs." + name);
    }
  }
  return Done{};
}

}  // namespace berth::server
