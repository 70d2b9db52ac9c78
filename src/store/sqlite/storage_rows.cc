// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/storage_rows.h"

#include <algorithm>

#include "model/datastore.h"
#include "store/sqlite/documents.h"
#include "store/sqlite/job_places.h"

namespace berth::store {
namespace {

using model::Job;

std::int64_t milliseconds(WallTime time) { return time.time_since_epoch().count(); }

bool fits(const Job& job, const JobSelection& selection) {
  const auto& statuses = selection.statuses;
  if (!model::is_terminal(job.status)) return false;
  if (!statuses.empty() && std::ranges::find(statuses, job.status) == statuses.end()) return false;
  if (selection.ended_before && job.ended_at.value_or(job.modified_at) >= *selection.ended_before) {
    return false;
  }
  if (!selection.experiment.empty() && job.spec->experiment_name != selection.experiment) {
    return false;
  }
  if (selection.tag_key.empty()) return true;
  const auto tag = job.tags.find(selection.tag_key);
  return tag != job.tags.end() &&
         (selection.tag_value.empty() || tag->second == selection.tag_value);
}

/// How many jobs are looked at for one page, however few of them fit.
constexpr std::int64_t kLookedAt = 2000;

}  // namespace

Result<SelectedJobs> StorageRows::jobs(const JobSelection& selection) {
  SelectedJobs found;
  if (!selection.names.empty()) {
    for (const std::string& name : selection.names) {
      auto job = TRY(read_first<Job>(
          TRY(database_.query("SELECT doc FROM jobs WHERE workspace = ? AND name = ?",
                              {selection.workspace.text, name}))));
      if (job && fits(*job, selection)) found.jobs.push_back(*std::move(job));
    }
    return found;
  }
  std::int64_t looked_at = 0;
  std::int64_t last = selection.after;
  bool is_end = false;
  {
    Cursor rows = TRY(database_.query(
        "SELECT sequence, doc, live FROM jobs WHERE sequence > ? AND +workspace = ? "
        "ORDER BY sequence LIMIT ?",
        {selection.after, selection.workspace.text, kLookedAt}));
    while (found.jobs.size() < selection.limit) {
      if (!TRY(rows.next())) {
        is_end = looked_at < kLookedAt;
        break;
      }
      ++looked_at;
      last = rows.integer(0);
      if (rows.integer(2) != 0) continue;
      Job job = TRY(read_document<Job>(rows.text(1)));
      // Sequences follow the submits: whatever comes now cannot have ended before.
      if (selection.ended_before && job.created_at >= *selection.ended_before) {
        is_end = true;
        break;
      }
      if (fits(job, selection)) found.jobs.push_back(std::move(job));
    }
  }
  if (!is_end) found.next = last;
  return found;
}

Result<bool> StorageRows::has_logs(const model::JobKey& job) {
  const FilePlace logs = log_place(job);
  return TRY(database_.integer(
             "SELECT EXISTS (SELECT 1 FROM blobs WHERE workspace = ? AND container = ? AND "
             "path >= ? AND path < ?)",
             {job.workspace.text, logs.container, logs.path, end_of(logs.path)})) != 0;
}

Result<JobFootprint> StorageRows::footprint(const model::JobKey& key) {
  JobFootprint footprint;
  const auto job = TRY(read_first<Job>(TRY(database_.query(
      "SELECT doc FROM jobs WHERE workspace = ? AND name = ?", {key.workspace.text, key.name}))));
  if (!job) return fail(Code::NotFound, fmt::format("no job '{}' in this workspace", key.name));
  const auto kept = TRY(kept_places(database_, *job));
  const FilePlace logs = log_place(key);
  for (const FilePlace& place : own_places(*job)) {
    const std::string end = place.path.ends_with('/') ? end_of(place.path) : place.path + '\0';
    Cursor rows = TRY(
        database_.query("SELECT path, json_extract(doc, '$.size') FROM blobs WHERE workspace = ? "
                        "AND container = ? AND path >= ? AND path < ?",
                        {key.workspace.text, place.container, place.path, end}));
    while (TRY(rows.next())) {
      const std::string_view path = rows.text(0);
      const auto size = static_cast<std::uint64_t>(rows.integer(1));
      const auto keeper = std::ranges::find_if(
          kept, [&](const KeptPlace& each) { return each.place.covers(place.container, path); });
      if (keeper != kept.end()) {
        ++footprint.kept_files;
        footprint.kept_bytes += size;
        if (std::ranges::find(footprint.kept_by, keeper->by) == footprint.kept_by.end()) {
          footprint.kept_by.push_back(keeper->by);
        }
        continue;
      }
      ++footprint.files;
      (logs.covers(place.container, path) ? footprint.log_bytes : footprint.other_bytes) += size;
    }
  }
  footprint.metric_points = static_cast<std::uint64_t>(TRY(database_.integer(
      "SELECT count(*) FROM metric_points WHERE run = (SELECT number FROM runs WHERE "
      "workspace = ? AND id = ?)",
      {key.workspace.text, key.name})));
  return footprint;
}

Result<std::vector<StoredFile>> StorageRows::read_files(Cursor rows) {
  std::vector<StoredFile> files;
  while (TRY(rows.next())) {
    files.push_back(TRY(read_document<StoredFile>(rows.text(3))));
    files.back().key = {
        {std::string(rows.text(0))}, std::string(rows.text(1)), std::string(rows.text(2))};
    files.back().block = rows.text(4);
  }
  return files;
}

Result<StoredFiles> StorageRows::files(const FileCursor& from, std::size_t limit) {
  const BlobKey& after = from.after;
  const auto most = static_cast<std::int64_t>(limit);
  StoredFiles page{.are_blocks = from.in_blocks, .next = from};
  if (!from.in_blocks) {
    page.files = TRY(read_files(TRY(database_.query(
        "SELECT workspace, container, path, doc, '' FROM blobs WHERE "
        "(workspace, container, path) > (?, ?, ?) ORDER BY workspace, container, path LIMIT ?",
        {after.workspace.text, after.container, after.path, most}))));
  } else {
    // A block's own piece stands in its document as one; a blob's stand in a list.
    page.files = TRY(read_files(TRY(database_.query(
        "SELECT workspace, container, path, json_object('pieces', json_array(json_extract(doc, "
        "'$.piece')), 'size', json_extract(doc, '$.piece.size'), 'created_at', json_extract(doc, "
        "'$.created_at')), id FROM blocks WHERE (workspace, container, path, id) > (?, ?, ?, ?) "
        "ORDER BY workspace, container, path, id LIMIT ?",
        {after.workspace.text, after.container, after.path, from.after_block, most}))));
  }
  if (page.files.size() < limit) {
    page.next = {.in_blocks = true, .is_end = from.in_blocks};
    return page;
  }
  page.next.after = page.files.back().key;
  page.next.after_block = page.files.back().block;
  return page;
}

Result<std::vector<AssetPlace>> StorageRows::asset_places() {
  std::vector<AssetPlace> places;
  Cursor rows = TRY(database_.query("SELECT doc FROM assets"));
  while (TRY(rows.next())) {
    const auto asset = TRY(read_document<model::Asset>(rows.text(0)));
    for (const char* key : {"codeUri", "dataUri", "modelUri"}) {
      const auto* uri = asset.body.if_contains(key);
      if (uri == nullptr || !uri->is_string()) continue;
      Result<FilePlace> place = place_of_address(asset.workspace, std::string(uri->get_string()));
      if (!place) continue;
      places.push_back(
          {asset.workspace, asset.kind, std::move(place->container), std::move(place->path)});
    }
  }
  return places;
}

Result<std::vector<CodeVersion>> StorageRows::idle_code(WallTime before, std::size_t limit) {
  std::vector<CodeVersion> idle;
  Cursor rows = TRY(database_.query(
      "SELECT workspace, name, version FROM assets WHERE kind = 'Code' AND "
      "json_extract(doc, '$.is_anonymous') = 1 AND json_extract(doc, '$.created_at') < ? AND "
      "NOT EXISTS (SELECT 1 FROM job_uses WHERE job_uses.workspace = assets.workspace AND "
      "what = 'code ' || name || ':' || version) LIMIT ?",
      {milliseconds(before), static_cast<std::int64_t>(limit)}));
  while (TRY(rows.next())) {
    idle.push_back(
        {{std::string(rows.text(0))}, std::string(rows.text(1)), std::string(rows.text(2))});
  }
  return idle;
}

/// The folders below LocalUpload/, found by stepping from one to the next.
Result<std::vector<UploadFolder>> StorageRows::uploads_of(const model::WorkspaceId& workspace) {
  constexpr std::string_view kUploads = "LocalUpload/";
  const std::string container(model::kDatastores[0].container);
  std::vector<UploadFolder> folders;
  std::string from(kUploads);
  const std::string end = end_of(from);
  while (true) {
    std::string path;
    {
      Cursor row =
          TRY(database_.query("SELECT path FROM blobs WHERE workspace = ? AND "
                              "container = ? AND path >= ? AND path < ? "
                              "ORDER BY path LIMIT 1",
                              {workspace.text, container, from, end}));
      if (!TRY(row.next())) return folders;
      path = row.text(0);
    }
    const std::size_t slash = path.find('/', kUploads.size());
    if (slash == std::string::npos) {
      from = path + '\0';
      continue;
    }
    folders.push_back({workspace, path.substr(0, slash + 1)});
    from = end_of(folders.back().prefix);
  }
}

Result<bool> StorageRows::is_idle(const UploadFolder& folder, WallTime before) {
  const std::string container(model::kDatastores[0].container);
  const std::string& workspace = folder.workspace.text;
  const bool is_used =
      TRY(database_.integer("SELECT EXISTS (SELECT 1 FROM job_uses WHERE workspace = ? AND "
                            "what = ?) OR EXISTS (SELECT 1 FROM blobs WHERE workspace = ? AND "
                            "container = ? AND path >= ? AND path < ? AND "
                            "json_extract(doc, '$.modified_at') >= ?)",
                            {workspace, folder.prefix, workspace, container, folder.prefix,
                             end_of(folder.prefix), milliseconds(before)})) != 0;
  if (is_used) return false;
  return !TRY(
      is_mentioned(database_, folder.workspace, folder.prefix.substr(0, folder.prefix.size() - 1)));
}

Result<std::vector<UploadFolder>> StorageRows::idle_uploads(WallTime before, std::size_t limit) {
  std::vector<model::WorkspaceId> workspaces;
  {
    Cursor rows = TRY(database_.query("SELECT key FROM documents WHERE kind = 'workspace'"));
    while (TRY(rows.next())) workspaces.push_back({std::string(rows.text(0))});
  }
  std::vector<UploadFolder> idle;
  for (const model::WorkspaceId& workspace : workspaces) {
    for (UploadFolder& folder : TRY(uploads_of(workspace))) {
      if (idle.size() >= limit) return idle;
      if (TRY(is_idle(folder, before))) idle.push_back(std::move(folder));
    }
  }
  return idle;
}

Result<std::vector<BlobKey>> StorageRows::stale_blocks(WallTime before, std::size_t limit) {
  std::vector<BlobKey> stale;
  Cursor rows = TRY(database_.query(
      "SELECT workspace, container, path FROM blocks GROUP BY workspace, container, path "
      "HAVING max(json_extract(doc, '$.created_at')) < ? LIMIT ?",
      {milliseconds(before), static_cast<std::int64_t>(limit)}));
  while (TRY(rows.next())) {
    stale.push_back(
        {{std::string(rows.text(0))}, std::string(rows.text(1)), std::string(rows.text(2))});
  }
  return stale;
}

Result<std::uint64_t> StorageRows::free_bytes() {
  const std::int64_t pages = TRY(database_.integer("PRAGMA freelist_count"));
  return static_cast<std::uint64_t>(pages * TRY(database_.integer("PRAGMA page_size")));
}

}  // namespace berth::store
