// SPDX-License-Identifier: Apache-2.0
#include "server/assets/model_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/random.h"
#include "base/text.h"
#include "model/assets/reference.h"
#include "model/datastore.h"

namespace berth::server {
namespace {

using store::Blob;

constexpr std::string_view kContainer = "azureml";
constexpr std::string_view kDatastore = "workspaceartifactstore";
constexpr std::string_view kFolder = "RegisteredModels/";
constexpr std::size_t kPage = 1000;

std::string text_of(const boost::json::object& body, std::string_view key) {
  const boost::json::value* found = body.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

/// Files of ours: one, or all below a folder.
struct Files {
  std::string container{};
  std::string path{};  ///< Of the file or the folder, without a '/' at its end.
  bool is_folder = false;
  std::vector<Blob> blobs{};

  std::string prefix() const { return is_folder && !path.empty() ? path + "/" : path; }
};

/// Nothing: the version's files are not kept here.
Result<std::optional<Files>> files_of(store::Store& store, const model::Asset& version) {
  const std::string uri = text_of(version.body, "modelUri");
  if (!uri.starts_with("azureml:")) return std::nullopt;
  const model::DataRef reference = TRY(model::parse_data_ref(uri));
  const auto* place = std::get_if<model::DatastorePath>(&reference);
  const auto datastore = place != nullptr ? model::find_datastore(place->datastore) : std::nullopt;
  if (!datastore) return std::nullopt;
  Files files{.container = std::string(datastore->container), .path = place->path};
  while (files.path.ends_with('/')) files.path.pop_back();
  if (auto file = TRY(store.blob({version.workspace, files.container, files.path}))) {
    files.blobs.push_back(*std::move(file));
    return files;
  }
  files.is_folder = true;
  files.blobs = TRY(blobs_below(store, version.workspace, files.container, files.prefix()));
  return files;
}

/// What the copy is called: clients name the folder they download to after it.
std::string name_of(const Files& files) {
  const std::string name = files.path.substr(files.path.rfind('/') + 1);
  return name.empty() || name == "artifacts" ? "model" : name;  // MLflow's name for any folder.
}

/// The same address with another path: short and long forms stay what they are.
std::string address_of(const std::string& uri, std::string_view path) {
  const std::size_t at = uri.find("datastores/");
  return fmt::format("{}datastores/{}/paths/{}", uri.substr(0, at), kDatastore, path);
}

Status check_content(const Files& files, const model::Asset& version) {
  const std::string uri = text_of(version.body, "modelUri");
  if (files.blobs.empty()) {
    return fail(Code::NotFound, fmt::format("there are no files at '{}'", uri));
  }
  if (text_of(version.body, "modelType") != "mlflow_model") return Done{};
  const std::string wanted = files.prefix() + "MLmodel";
  const bool has_file = files.is_folder && std::ranges::any_of(files.blobs, [&](const Blob& blob) {
                          return blob.key.path == wanted;
                        });
  if (has_file) return Done{};
  return fail(Code::InvalidArgument,
              fmt::format("there is no file MLmodel at '{}', which every mlflow_model has; other "
                          "models are of the type custom_model",
                          uri));
}

}  // namespace

bool is_pinned(std::string_view container, std::string_view path) {
  return container == kContainer && path.starts_with(kFolder);
}

Result<std::vector<Blob>> blobs_below(store::Store& store, const model::WorkspaceId& workspace,
                                      std::string_view container, const std::string& prefix) {
  std::vector<Blob> all;
  store::BlobQuery query{.workspace = workspace,
                         .container = std::string(container),
                         .prefix = prefix,
                         .limit = kPage};
  while (true) {
    store::Page<Blob> page = TRY(store.blobs(query));
    const bool is_last = !page.is_cut && page.size() < kPage;
    if (!is_last) query.after = page.back().key.path;
    std::ranges::move(page, std::back_inserter(all));
    if (is_last) return all;
  }
}

std::string digest_of(const std::vector<Blob>& blobs, std::string_view prefix) {
  Digest digest(Digest::Algorithm::Sha256);
  for (const Blob& blob : blobs) {
    const std::string_view name = std::string_view(blob.key.path).substr(prefix.size());
    digest.update(fmt::format("{}\n{}", name.size(), name));
    for (const store::Piece& piece : blob.pieces) digest.update(piece.sha256);
    digest.update("\n");
  }
  return to_hex(digest.finish());
}

Result<store::Batch> pin_files(store::Store& store, model::Asset& version) {
  const std::optional<Files> files = TRY(files_of(store, version));
  if (!files) return store::Batch();
  TRY(check_content(*files, version));
  const std::string copy = fmt::format("{}{}/{}", kFolder, random_hex(16), name_of(*files));
  const std::string prefix = files->prefix();
  const std::string uri = text_of(version.body, "modelUri");
  version.digest = digest_of(files->blobs, prefix);
  version.origin.pinned_from = uri;
  version.body["modelUri"] = address_of(uri, copy);
  store::Batch rows;
  for (Blob blob : files->blobs) {
    std::string path = files->is_folder ? copy + "/" + blob.key.path.substr(prefix.size()) : copy;
    blob.key = {version.workspace, std::string(kContainer), std::move(path)};
    rows.push_back(store::PutBlob{std::move(blob)});
  }
  return rows;
}

Result<store::Batch> removal_of_files(store::Store& store, const model::Asset& version) {
  store::Batch rows;
  if (version.digest.empty()) return rows;
  const std::optional<Files> files = TRY(files_of(store, version));
  if (!files || !is_pinned(files->container, files->path)) return rows;
  for (const Blob& blob : files->blobs) rows.push_back(store::DeleteBlob{blob.key});
  return rows;
}

Status check_files(store::Store& store, const model::Asset& version) {
  if (version.digest.empty()) return Done{};
  const std::optional<Files> files = TRY(files_of(store, version));
  if (files && digest_of(files->blobs, files->prefix()) == version.digest) return Done{};
  return fail(Code::InvalidArgument,
              fmt::format("the files of version '{}' of model '{}' are not those that were "
                          "registered: its digest was {}",
                          version.version, version.name, version.digest));
}

}  // namespace berth::server
