// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/upload.h"

#include <filesystem>

#include "base/random.h"
#include "base/text.h"
#include "cli/transfer/datastore.h"
#include "cli/transfer/transfer.h"
#include "wire/arm/error.h"

namespace berth::cli {
namespace {

using wire::blob::blob_url;
using wire::blob::Container;

constexpr std::string_view kDatastore = "workspaceblobstore";

std::vector<Upload> uploads_of(const Snapshot& snapshot, const Container& container,
                               const std::string& prefix) {
  std::vector<Upload> uploads;
  for (const SnapshotFile& file : snapshot.files) {
    uploads.push_back({.source = file.source, .url = blob_url(container, prefix + file.path)});
  }
  return uploads;
}

Status send_files(Context& context, const Snapshot& snapshot, const Container& container,
                  const std::string& prefix, std::string what) {
  const Endpoint server = TRY(context.client.endpoint());
  return upload_all(uploads_of(snapshot, container, prefix),
                    {.console = context.console,
                     .what = std::move(what),
                     .total_bytes = snapshot.bytes,
                     .authority_file = server.authority_file});
}

std::string text_at(const json::object& object, std::initializer_list<std::string_view> path) {
  const json::object* step = &object;
  for (const std::string_view key : path) {
    const json::value* found = step == nullptr ? nullptr : step->if_contains(key);
    if (found == nullptr) return "";
    if (const json::string* text = found->if_string()) return std::string(*text);
    step = found->if_object();
  }
  return "";
}

Result<std::string> known_code(Client& client, const std::string& name, const std::string& hash) {
  const json::array found =
      TRY(client.list(client.workspace_path(
                          fmt::format("/codes/{}/versions?hash={}&hashVersion=202208", name, hash)),
                      1));
  if (found.empty() || !found[0].is_object()) return std::string();
  return text_at(found[0].get_object(), {"id"});
}

Result<Snapshot> snapshot_for(const Context& context, const std::string& path,
                              const SnapshotLimits& limits) {
  context.console.progress(fmt::format("reading {}", path));
  auto snapshot = take_snapshot(
      path, limits, [&](std::string_view warning) { context.console.warning(warning); });
  context.console.clear_progress();
  return snapshot;
}

/// "data/", "/x/data" and "." all have the name of the folder.
std::string name_of(const std::string& path) {
  std::error_code failed;
  const auto absolute = std::filesystem::weakly_canonical(path, failed);
  const std::string name = failed ? "" : absolute.filename().string();
  return name.empty() ? "data" : name;
}

/// The last step of an upload marks its first file; only then is all of it there.
Status mark_complete(io::HttpClient& http, const std::string& url) {
  const auto response = TRY(http.send({.method = "PUT",
                                       .url = url + "&comp=metadata",
                                       .headers = {{"x-ms-meta-upload_status", "completed"}}}));
  if (response.status < 400) return Done{};
  return fail(wire::arm::error_from(response.status, response.body));
}

bool is_complete(io::HttpClient& http, const std::string& url) {
  const auto response = http.send({.method = "HEAD", .url = url});
  return response && response->status == 200 &&
         io::header(response->headers, "x-ms-meta-upload_status") == "completed";
}

}  // namespace

Result<std::string> upload_code(Context& context, const std::string& path,
                                const SnapshotLimits& limits) {
  const Snapshot snapshot = TRY(snapshot_for(context, path, limits));
  if (snapshot.files.empty()) return std::string();
  const std::string hash = TRY(content_hash(snapshot));
  Client& client = context.client;
  const std::string name = random_uuid();
  if (std::string known = TRY(known_code(client, name, hash)); !known.empty()) return known;

  const std::string version = client.workspace_path(fmt::format("/codes/{}/versions/1", name));
  const json::object pending = TRY(client.post(version + "/startPendingUpload",
                                               {{"pendingUploadType", "TemporaryBlobReference"}}));
  const std::string place =
      text_at(pending, {"blobReferenceForConsumption", "credential", "sasUri"});
  const std::string address = text_at(pending, {"blobReferenceForConsumption", "blobUri"});
  if (place.empty() || address.empty()) {
    return fail(Code::Internal, "the server did not say where to upload code");
  }
  TRY(send_files(context, snapshot, wire::blob::container_from(place), "", "uploading code"));
  const json::object made = TRY(client.put(
      version, {{"properties",
                 {{"codeUri", address},
                  {"isAnonymous", true},
                  {"properties", {{"hash_sha256", hash}, {"hash_version", "202208"}}}}}}));
  return text_at(made, {"id"});
}

Result<std::string> upload_data(Context& context, const std::string& path) {
  const Snapshot snapshot = TRY(snapshot_for(context, path, {}));
  if (snapshot.files.empty())
    return fail(Code::InvalidArgument, fmt::format("'{}' is empty", path));
  std::error_code failed;
  const bool is_folder = std::filesystem::is_directory(path, failed);
  const std::string hash = TRY(content_hash(snapshot));
  const std::string name = name_of(path);
  const std::string folder = fmt::format("LocalUpload/{}/", hash);
  const std::string prefix = is_folder ? folder + name + "/" : folder;

  const Container container =
      TRY(open_datastore(context.client, std::string(kDatastore), Purpose::Write));
  const Endpoint server = TRY(context.client.endpoint());
  io::HttpClient http({.authority_file = server.authority_file});
  const std::string first = blob_url(container, prefix + snapshot.files.front().path);
  if (!is_complete(http, first)) {
    TRY(send_files(context, snapshot, container, prefix, fmt::format("uploading {}", name)));
    TRY(mark_complete(http, first));
  }
  return fmt::format("azureml://datastores/{}/paths/{}{}", kDatastore, folder,
                     is_folder ? name + "/" : snapshot.files.front().path);
}

}  // namespace berth::cli
