// SPDX-License-Identifier: Apache-2.0
#include "server/references.h"

#include "base/digest.h"
#include "base/text.h"
#include "model/datastore.h"
#include "server/control_plane.h"

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

Result<BlobPlace> of_job(const Catalogue& catalogue, const WorkspaceId& workspace,
                         const JobOutputRef& reference) {
  const model::Job job = TRY(catalogue.plane.job({workspace, reference.job}));
  if (!model::is_terminal(job.status)) {
    return fail(Code::Conflict,
                fmt::format("job '{}' is not over, so it has no outputs yet", job.key.name));
  }
  BlobPlace place;
  if (reference.output == "artifacts" || reference.output == "default") {
    place = {"azureml", model::artifact_prefix(job.key), true};
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

std::string text_member(const boost::json::object& body, std::string_view key) {
  const boost::json::value* found = body.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

Result<Place> of_asset(const Catalogue& catalogue, const WorkspaceId& workspace,
                       const AssetRef& reference, DataType type) {
  const AssetKind kind = is_model(type) ? AssetKind::Model : AssetKind::Data;
  const model::Asset asset = TRY(find_asset(catalogue, workspace, kind, reference));
  const std::string uri = text_member(asset.body, kind == AssetKind::Data ? "dataUri" : "modelUri");
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

Result<Place> find_input(const Catalogue& catalogue, const WorkspaceId& workspace,
                         const model::JobInput& input) {
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
  const auto found = job.spec.outputs.find(output);
  if (found == job.spec.outputs.end()) {
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
  const AssetRef reference = TRY(model::parse_asset_ref(AssetKind::Code, code_id));
  const auto code =
      TRY(catalogue.store.asset(workspace, AssetKind::Code, reference.name, reference.version));
  if (!code) {
    return fail(Code::NotFound,
                fmt::format("no code '{}' version '{}'", reference.name, reference.version));
  }
  BlobPlace place = TRY(blob_of_url(workspace, text_member(code->body, "codeUri")));
  place.path = as_folder(place.path);
  place.is_folder = true;
  return place;
}

Result<std::string> digest_of_code(const Catalogue& catalogue, const WorkspaceId& workspace,
                                   const std::string& code_id) {
  if (code_id.empty()) return std::string();
  constexpr std::size_t kPage = 1000;
  const BlobPlace code = TRY(find_code(catalogue, workspace, code_id));
  std::string text;
  store::BlobQuery query{
      .workspace = workspace, .container = code.container, .prefix = code.path, .limit = kPage};
  while (true) {
    const std::vector<store::Blob> blobs = TRY(catalogue.store.blobs(query));
    for (const store::Blob& blob : blobs) {
      text += fmt::format("{}\n{}", blob.key.path.size(), blob.key.path);
      for (const store::Piece& piece : blob.pieces) text += piece.sha256;
      text += '\n';
    }
    if (blobs.size() < kPage) return to_hex(sha256(text));
    query.after = blobs.back().key.path;
  }
}

Status check_references(const Catalogue& catalogue, const WorkspaceId& workspace,
                        const model::JobSpec& spec) {
  const auto blame = [](Error error, const std::string& what, const std::string& target) {
    error.message = fmt::format("{}: {}", what, error.message);
    error.target = target;
    if (error.code == Code::NotFound) error.code = Code::InvalidArgument;
    return fail(std::move(error));
  };
  if (!spec.code_id.empty()) {
    const auto code = find_code(catalogue, workspace, spec.code_id);
    if (!code) return blame(code.error(), "code", "properties.codeId");
  }
  for (const auto& [name, input] : spec.inputs) {
    if (input.type == DataType::Literal || input.mode == model::DataMode::Direct) continue;
    const auto place = find_input(catalogue, workspace, input);
    if (!place) {
      return blame(place.error(), fmt::format("input '{}'", name), "properties.inputs." + name);
    }
  }
  return Done{};
}

}  // namespace berth::server
