// SPDX-License-Identifier: Apache-2.0
// How RowWriter takes away jobs, and the files that nothing names any more. What may go is decided
// here, inside the transaction: between a decision elsewhere and its commit, an asset may have been
// made of the very files.
#include <algorithm>

#include "model/datastore.h"
#include "store/sqlite/documents.h"
#include "store/sqlite/job_places.h"
#include "store/sqlite/rows.h"

namespace berth::store {
namespace {

using model::Job;

Result<std::optional<Job>> find_job(Database& database, const model::JobKey& key) {
  return read_first<Job>(TRY(database.query("SELECT doc FROM jobs WHERE workspace = ? AND name = ?",
                                            {key.workspace.text, key.name})));
}

/// All rows of a table of files below the place.
Status drop_range(Database& database, const char* table, const model::WorkspaceId& workspace,
                  const FilePlace& place) {
  const std::string end = place.path.ends_with('/') ? end_of(place.path) : place.path + '\0';
  return database.run(
      fmt::format("DELETE FROM {} WHERE workspace = ? AND container = ? AND path >= ? AND path < ?",
                  table),
      {workspace.text, place.container, place.path, end});
}

/// Up to `limit` files of the place that nothing keeps; how many there were.
Result<std::size_t> drop_some(Database& database, const model::WorkspaceId& workspace,
                              const FilePlace& place, const std::vector<KeptPlace>& kept,
                              std::size_t limit) {
  std::vector<std::string> paths;
  {
    const std::string end = place.path.ends_with('/') ? end_of(place.path) : place.path + '\0';
    Cursor rows = TRY(database.query(
        "SELECT path FROM blobs WHERE workspace = ? AND container = ? AND path >= ? AND path < ?",
        {workspace.text, place.container, place.path, end}));
    while (paths.size() < limit && TRY(rows.next())) {
      const std::string_view path = rows.text(0);
      const bool is_kept = std::ranges::any_of(
          kept, [&](const KeptPlace& each) { return each.place.covers(place.container, path); });
      if (!is_kept) paths.emplace_back(path);
    }
  }
  for (const std::string& path : paths) {
    TRY(database.run("DELETE FROM blobs WHERE workspace = ? AND container = ? AND path = ?",
                     {workspace.text, place.container, path}));
  }
  return paths.size();
}

Status drop_places(Database& database, const model::WorkspaceId& workspace,
                   const std::vector<FilePlace>& places, const std::vector<KeptPlace>& kept) {
  for (const FilePlace& place : places) {
    TRY(drop_range(database, "blocks", workspace, place));
    if (kept.empty()) {
      TRY(drop_range(database, "blobs", workspace, place));
    } else {
      TRY(drop_some(database, workspace, place, kept, SIZE_MAX));
    }
  }
  return Done{};
}

}  // namespace

Status RowWriter::add_uses(const Job& job) {
  for (const std::string& use : uses_of(job)) {
    TRY(database_.run(
        "INSERT OR REPLACE INTO job_uses (workspace, what, sequence) VALUES (?, ?, ?)",
        {job.key.workspace.text, use, job.sequence}));
  }
  return Done{};
}

/// The models that its run has logged go with it, unless one was registered.
Status RowWriter::drop_logged_models(const model::JobKey& job) {
  struct Logged {
    std::int64_t number = 0;
    std::string id{};
  };
  std::vector<Logged> logged;
  {
    Cursor rows = TRY(database_.query(
        "SELECT number, id FROM logged_models WHERE workspace = ? AND source_run = ?",
        {job.workspace.text, job.name}));
    while (TRY(rows.next())) logged.push_back({rows.integer(0), std::string(rows.text(1))});
  }
  for (const Logged& each : logged) {
    if (TRY(is_mentioned(database_, job.workspace, each.id))) continue;
    TRY(tracking_.drop_logged_model(each.number));
    TRY(drop_places(database_, job.workspace, {{"azureml", "LoggedModels/" + each.id + "/"}}, {}));
  }
  return Done{};
}

Status RowWriter::put(const Erase<model::Job>& write) {
  const std::optional<Job> job = TRY(find_job(database_, write.key));
  if (!job) return Done{};
  const auto kept = TRY(kept_places(database_, *job));
  TRY(drop_places(database_, write.key.workspace, own_places(*job), kept));
  TRY(drop_logged_models(write.key));
  TRY(remove_tags(write.key.workspace, job->sequence, job->tags));
  TRY(database_.run("DELETE FROM job_uses WHERE sequence = ?", {job->sequence}));
  TRY(tracking_.job_deleted(write.key));
  return database_.run("DELETE FROM jobs WHERE sequence = ?", {job->sequence});
}

Status RowWriter::put(const DropJobFiles& write) {
  const std::optional<Job> job = TRY(find_job(database_, write.job));
  if (!job || !model::is_terminal(job->status)) return Done{};
  const auto kept = TRY(kept_places(database_, *job));
  const std::vector<FilePlace> places =
      write.only_logs ? std::vector<FilePlace>{log_place(write.job)} : own_places(*job);
  std::size_t left = write.limit;
  for (const FilePlace& place : places) {
    left -= TRY(drop_some(database_, write.job.workspace, place, kept, left));
    if (left == 0) break;
  }
  return Done{};
}

Status RowWriter::put(const DropMetrics& write) {
  return tracking_.drop_metrics(write.job, write.limit);
}

Result<bool> RowWriter::is_used(const model::WorkspaceId& workspace, std::string_view what) {
  return TRY(database_.integer(
             "SELECT EXISTS (SELECT 1 FROM job_uses WHERE workspace = ? AND what = ?)",
             {workspace.text, what})) != 0;
}

Status RowWriter::put(const DropCode& write) {
  const auto& [workspace, name, version] = write.code;
  const AssetName itself{model::AssetKind::Code, name, version};
  if (TRY(is_used(workspace, code_use(name, version)))) return Done{};
  const auto code = TRY(read_first<model::Asset>(TRY(
      database_.query("SELECT doc FROM assets WHERE workspace = ? AND kind = 'Code' AND name = ? "
                      "AND version = ?",
                      {workspace.text, name, version}))));
  if (!code || TRY(is_mentioned(database_, workspace, name, itself))) return Done{};
  TRY(put(DeleteAsset{workspace, model::AssetKind::Code, name, version}));
  TRY(database_.run(
      "DELETE FROM containers WHERE workspace = ? AND kind = 'Code' AND name = ? AND NOT EXISTS "
      "(SELECT 1 FROM assets WHERE workspace = ? AND kind = 'Code' AND name = ?)",
      {workspace.text, name, workspace.text, name}));
  const auto* uri = code->body.if_contains("codeUri");
  if (uri == nullptr || !uri->is_string()) return Done{};
  Result<FilePlace> place = place_of_address(workspace, std::string(uri->get_string()));
  // Two versions may be one folder: then the last of them takes the files along.
  if (!place || place->path.empty()) return Done{};
  if (TRY(is_mentioned(database_, workspace, place->path))) return Done{};
  if (!place->path.ends_with('/')) place->path += '/';
  return drop_places(database_, workspace, {*place}, {});
}

Status RowWriter::put(const DropUpload& write) {
  const auto& [workspace, prefix] = write.folder;
  if (!prefix.starts_with("LocalUpload/") || !prefix.ends_with('/')) return Done{};
  if (TRY(is_used(workspace, prefix))) return Done{};
  if (TRY(is_mentioned(database_, workspace, prefix.substr(0, prefix.size() - 1)))) return Done{};
  return drop_places(database_, workspace, {{std::string(model::kDatastores[0].container), prefix}},
                     {});
}

Status RowWriter::put(const DropStaleBlocks& write) {
  const BlobKey& key = write.key;
  const std::int64_t before = write.before.time_since_epoch().count();
  const std::int64_t young = TRY(database_.integer(
      "SELECT count(*) FROM blocks WHERE workspace = ? AND container = ? AND path = ? AND "
      "json_extract(doc, '$.created_at') >= ?",
      {key.workspace.text, key.container, key.path, before}));
  if (young > 0) return Done{};
  return put(DropBlocks{key});
}

}  // namespace berth::store
