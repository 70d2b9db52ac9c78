// SPDX-License-Identifier: Apache-2.0
// MLflow: artifacts through the server. They are blobs of workspaceartifactstore, so that what a
// job logs lies beside what it left in outputs/. Models that Azure ML's clients uploaded lie on the
// other datastore: they are read, not written, below datastores/<name>/.
#include "base/text.h"
#include "model/assets/reference.h"
#include "model/datastore.h"
#include "server/assets/model_files.h"
#include "server/blob/operations.h"
#include "server/door/route.h"
#include "server/mlflow/mlflow.h"
#include "server/plane/ledger.h"

namespace berth::server {
namespace {

namespace json = boost::json;
using wire::mlflow::Message;

constexpr const char* kContainer = "azureml";
constexpr std::string_view kDatastores = "datastores";
constexpr std::string_view kScheme = "mlflow-artifacts:/";
constexpr std::size_t kPage = 1000;
constexpr char kBehindAll = '\xff';  ///< No byte of a path sorts after it.

struct Artifact {
  std::string container{};
  std::string path{};
};

Artifact artifact_at(const std::string& path) {
  const auto parts = split(path, '/');
  const auto datastore = parts.size() > 2 && parts[0] == kDatastores
                             ? model::find_datastore(parts[1])
                             : std::optional<model::Datastore>();
  if (!datastore) return {kContainer, path};
  return {std::string(datastore->container), path.substr(parts[0].size() + parts[1].size() + 2)};
}

BlobRequest request_for(const Call& call, BlobOperation operation, Artifact artifact) {
  return {.operation = operation,
          .target = {call.workspace->id, artifact.container, std::move(artifact.path)},
          .grant = {.workspace = call.workspace->id,
                    .container = artifact.container,
                    .permissions = "racwdl"}};
}

/// What a job's processes print is written by Berth alone.
Status check_may_change(std::string_view path) {
  const auto parts = split(path, '/');
  if (parts[0] == kDatastores) {
    return fail(Code::Forbidden, fmt::format("'{}' can be read here, not written", path));
  }
  if (is_pinned(kContainer, path)) {
    return fail(Code::Forbidden,
                fmt::format("'{}' belongs to a registered model, whose files never "
                            "change",
                            path));
  }
  const bool is_log = parts.size() > 2 && parts[0] == "ExperimentRun" &&
                      (parts[2] == "user_logs" || parts[2] == "system_logs");
  if (!is_log) return Done{};
  return fail(Code::Forbidden, fmt::format("'{}' holds a run's logs and cannot be written", path));
}

/// Errors of the blob store in the words of ours; its own names for them mean nothing to MLflow.
tl::unexpected<Error> plain(Error error) {
  error.target.clear();
  return fail(std::move(error));
}

Result<io::Reply> download(Call& call) {
  const std::string& path = call.parameter("path");
  const Artifact artifact = artifact_at(path);
  TRY(check_place(call, artifact.container, artifact.path, Touch::Read));
  Result<io::Reply> reply = read_blob(call, request_for(call, BlobOperation::Get, artifact));
  if (reply) return reply;
  if (reply.error().code != Code::NotFound) return plain(reply.error());
  return fail(Code::NotFound, fmt::format("no artifact '{}'", path));
}

/// The blob is there when all of it is, and not before.
Result<io::Reply> upload(Call& call) {
  const std::string& path = call.parameter("path");
  TRY(check_may_change(path));
  TRY(check_place(call, kContainer, path, Touch::Write));
  const Result<io::Reply> reply =
      put_blob(call, request_for(call, BlobOperation::Put, {kContainer, path}));
  if (!reply) return plain(reply.error());
  return json_reply(200, json::object());
}

// ---- Lists --------------------------------------------------------------------------------------

struct Entry {
  std::string name{};
  bool is_folder = false;
  std::uint64_t size = 0;
};

tl::unexpected<Error> too_many(const std::string& place, std::size_t count) {
  return fail(Code::InvalidArgument,
              fmt::format("'{}' has more than {} entries, too many for one list of artifacts; the "
                          "workspace's blob store lists them page by page",
                          place, count),
              "path");
}

/// What lies directly in the folder (empty, or with a '/' at its end).
Result<std::vector<Entry>> entries_of(const Call& call, const std::string& place) {
  std::vector<Entry> entries;
  const auto [container, folder] = artifact_at(place);
  store::BlobQuery query{
      .workspace = call.workspace->id, .container = container, .prefix = folder, .limit = kPage};
  store::PageBudget budget;
  for (bool has_more = true; has_more;) {
    const store::Page<store::Blob> blobs = TRY(call.services.store.blobs(query));
    has_more = blobs.is_cut || blobs.size() == kPage;
    // MLflow's clients do not ask for a second page: a list that ends early would be a wrong one.
    if (budget.is_spent()) return too_many(place, entries.size());
    for (const store::Blob& blob : blobs) {
      if (!query.after.empty() && blob.key.path <= query.after) continue;
      query.after = blob.key.path;
      const std::string rest = blob.key.path.substr(folder.size());
      const std::size_t slash = rest.find('/');
      budget.take(rest.size() + 60);
      if (slash == std::string::npos) {
        entries.push_back({.name = rest, .size = blob.size});
        continue;
      }
      entries.push_back({.name = rest.substr(0, slash), .is_folder = true});
      query.after = folder + rest.substr(0, slash + 1) + kBehindAll;
    }
  }
  return entries;
}

json::array files_of(const std::vector<Entry>& entries, const std::string& prefix) {
  json::array files;
  for (const Entry& entry : entries) {
    json::object file = {{"path", prefix + entry.name}, {"is_dir", entry.is_folder}};
    if (!entry.is_folder) file["file_size"] = entry.size;
    files.push_back(std::move(file));
  }
  return files;
}

Result<std::string> folder_of(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  while (path.starts_with('/')) path.remove_prefix(1);
  if (path.empty()) return std::string();
  return TRY(model::checked_blob_path(path)) + "/";
}

Result<io::Reply> list(Call& call) {
  const std::string folder = TRY(folder_of(call.query_value("path")));
  const auto [container, path] = artifact_at(folder);
  TRY(check_place(call, container, path.substr(0, path.empty() ? 0 : path.size() - 1),
                  Touch::Read));
  return recorded(call, json::object{{"files", files_of(TRY(entries_of(call, folder)), "")}});
}

/// Of a run, with paths that begin at its root.
Result<io::Reply> list_of_run(Call& call) {
  const Message message = TRY(message_of(call));
  const model::Run run = TRY(find_run(call, TRY(wire::mlflow::run_id_of(message)), Touch::Read));
  const std::string uri = model::artifact_uri(run);
  if (!uri.starts_with(kScheme)) {
    return fail(Code::NotSupported,
                fmt::format("the artifacts of run '{}' are kept elsewhere: {}", run.key.name, uri));
  }
  const std::string path = TRY(folder_of(TRY(message.text("path"))));
  const std::string root = TRY(folder_of(std::string_view(uri).substr(kScheme.size())));
  const std::vector<Entry> entries = TRY(entries_of(call, root + path));
  return recorded(call, json::object{{"root_uri", uri}, {"files", files_of(entries, path)}});
}

/// One artifact, or a folder with all below it.
Result<io::Reply> remove(Call& call) {
  const std::string& path = call.parameter("path");
  TRY(check_may_change(path));
  store::Batch batch;
  const store::BlobKey key{call.workspace->id, kContainer, path};
  if (TRY(call.services.store.blob(key))) batch.push_back(store::DeleteBlob{key});
  store::BlobQuery query{.workspace = call.workspace->id,
                         .container = kContainer,
                         .prefix = path + (path.ends_with('/') ? "" : "/"),
                         .limit = kPage};
  for (bool has_more = true; has_more;) {
    const store::Page<store::Blob> blobs = TRY(call.services.store.blobs(query));
    has_more = blobs.is_cut || blobs.size() == kPage;
    for (const store::Blob& blob : blobs) {
      TRY(check_may_change(blob.key.path));
      batch.push_back(store::DeleteBlob{blob.key});
      query.after = blob.key.path;
    }
  }
  if (batch.empty()) return fail(Code::NotFound, fmt::format("no artifact '{}'", path));
  call.services.ledger.write(std::move(batch));
  return json_reply(200, json::object());
}

/// Clients that are told to send large files in parts send them whole when they hear just this.
Result<io::Reply> refuse_parts(Call&) {
  return fail(Code::NotSupported,
              "Multipart upload is not supported for the current artifact repository: artifacts "
              "are sent whole, of whatever size");
}

constexpr Permission kRead =
    allow_jobs("Microsoft.MachineLearningServices/workspaces/metadata/artifacts/read");
constexpr Permission kWrite =
    allow_jobs("Microsoft.MachineLearningServices/workspaces/metadata/artifacts/write");
constexpr Permission kDelete =
    allow_people("Microsoft.MachineLearningServices/workspaces/metadata/artifacts/delete");

constexpr const char* kArtifact = "/mlflow/v1.0/W/api/2.0/mlflow-artifacts/artifacts/{path...}";

constexpr Route kRoutes[] = {
    {"GET", "/mlflow/v1.0/W/api/2.0/mlflow/artifacts/list", kRead, BodyKind::None, list_of_run},
    {"GET", "/mlflow/v1.0/W/api/2.0/mlflow-artifacts/artifacts", kRead, BodyKind::None, list},
    {"GET", kArtifact, kRead, BodyKind::None, download},
    {"PUT", kArtifact, kWrite, BodyKind::Spooled, upload},
    {"DELETE", kArtifact, kDelete, BodyKind::None, remove},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow-artifacts/mpu/create/{path...}", kWrite, BodyKind::Json,
     refuse_parts},
};

}  // namespace

std::span<const Route> mlflow_artifact_routes() { return kRoutes; }

}  // namespace berth::server
