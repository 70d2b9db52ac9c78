// SPDX-License-Identifier: Apache-2.0
#include "server/storage/storage_report.h"

#include <fts.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "server/storage/object_marks.h"

namespace berth::server {
namespace {

namespace json = boost::json;

constexpr std::size_t kRowsAtOnce = 2000;
/// A job may have made any number of files in its directory; nobody waits for all of them.
constexpr std::uint64_t kMostEntries = 500'000;

struct Sum {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  void add(std::uint64_t size) {
    ++files;
    bytes += size;
  }
};

json::object to_json(const Sum& sum) { return {{"files", sum.files}, {"bytes", sum.bytes}}; }

std::uint64_t size_of(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

/// What a directory takes on the disk, without following links or leaving its file system.
Sum disk_use(const std::string& path) {
  Sum sum;
  std::string root = path;
  char* const roots[] = {root.data(), nullptr};
  const std::unique_ptr<FTS, int (*)(FTS*)> tree(
      ::fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, nullptr), ::fts_close);
  if (!tree) return sum;
  while (const FTSENT* entry = ::fts_read(tree.get())) {
    if (entry->fts_info != FTS_F) continue;
    sum.add(static_cast<std::uint64_t>(entry->fts_statp->st_blocks) * 512);
    if (sum.files >= kMostEntries) break;
  }
  return sum;
}

struct Work {
  ReportParts parts;
  Workspaces workspaces{};
  bool is_whole = false;
  std::function<void(Result<json::object>)> done{};
  FileKinds kinds{};
  store::FileCursor cursor{};
  std::map<std::pair<model::WorkspaceId, std::string>, Sum> sums{};
  std::uint64_t named_bytes = 0;  ///< Of all workspaces, however often an object is named.
  ObjectMarks marks{};
  json::object answer{};

  Status read_page(store::StorageReader& reader);
  Status add_whole(store::StorageReader& reader);
  json::array shown_workspaces() const;
};

Status Work::read_page(store::StorageReader& reader) {
  const store::StoredFiles page = TRY(reader.files(cursor, kRowsAtOnce));
  for (const store::StoredFile& file : page.files) {
    if (is_whole) {
      for (const store::Piece& piece : file.pieces) marks.add(piece.sha256, piece.size);
      if (!page.are_blocks) named_bytes += file.size;
    }
    if (!workspaces.contains(file.key.workspace)) continue;
    const std::string_view kind = page.are_blocks ? "unfinished uploads" : kinds.of(file.key);
    sums[{file.key.workspace, std::string(kind)}].add(file.size);
  }
  cursor = page.next;
  return Done{};
}

Status Work::add_whole(store::StorageReader& reader) {
  marks.sort();
  Sum objects, unnamed, leftovers;
  TRY(parts.objects.list([&](std::string_view name, bool is_object) {
    const std::uint64_t size = size_of(parts.objects.path_of(std::string(name)));
    if (!is_object) return leftovers.add(size);
    objects.add(size);
    if (!marks.contains(name)) unnamed.add(size);
  }));
  const std::uint64_t once = marks.bytes();
  answer["objects"] = {{"files", objects.files},
                       {"bytes", objects.bytes},
                       {"unreferenced_files", unnamed.files + leftovers.files},
                       {"unreferenced_bytes", unnamed.bytes + leftovers.bytes},
                       {"saved_by_sharing_bytes", named_bytes > once ? named_bytes - once : 0}};
  const std::string& home = parts.home;
  answer["database"] = {{"bytes", size_of(home + "/berth.db")},
                        {"free_bytes", TRY(reader.free_bytes())},
                        {"log_bytes", size_of(home + "/berth.db-wal")}};
  answer["live_logs"] = to_json(disk_use(home + "/live"));
  answer["uploads_under_way"] = to_json(disk_use(home + "/spool"));
  answer["nodes"] = to_json(disk_use(home + "/nodes"));
  answer["server_logs"] = to_json(disk_use(home + "/logs"));
  struct statvfs disk {};
  if (::statvfs(home.c_str(), &disk) == 0) {
    answer["disk"] = {{"bytes", static_cast<std::uint64_t>(disk.f_blocks) * disk.f_frsize},
                      {"free_bytes", static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize}};
  }
  return Done{};
}

json::array Work::shown_workspaces() const {
  json::array shown;
  for (const auto& [id, workspace] : workspaces) {
    json::array of_kinds;
    Sum all;
    for (const auto& [key, sum] : sums) {
      if (key.first != id) continue;
      json::object line = to_json(sum);
      line["kind"] = key.second;
      of_kinds.push_back(std::move(line));
      all.files += sum.files;
      all.bytes += sum.bytes;
    }
    json::object line = to_json(all);
    line["workspace"] = workspace.name;
    line["resource_group"] = workspace.resource_group;
    line["kinds"] = std::move(of_kinds);
    shown.push_back(std::move(line));
  }
  return shown;
}

void step(const std::shared_ptr<Work>& work) {
  work->parts.store.inspect([work](store::StorageReader& reader) -> std::function<void()> {
    const bool is_last = work->cursor.is_end;
    Status done = Done{};
    if (!is_last) {
      done = work->read_page(reader);
    } else if (work->is_whole) {
      done = work->add_whole(reader);
    }
    if (!done) return [work, error = done.error()] { work->done(fail(error)); };
    if (!is_last) return [work] { step(work); };
    work->answer["workspaces"] = work->shown_workspaces();
    return [work] { work->done(std::move(work->answer)); };
  });
}

std::string full_path(const model::WorkspaceId& workspace, std::string_view container,
                      std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return fmt::format("{}\n{}\n{}", workspace.text, container, path);
}

std::string_view name_of(model::AssetKind kind) {
  if (kind == model::AssetKind::Code) return "code";
  return kind == model::AssetKind::Model ? "models" : "data";
}

std::string_view by_folder(const store::BlobKey& key) {
  const std::string_view path = key.path;
  if (key.container == "azureml") {
    if (path.starts_with("LoggedModels/")) return "models";
    if (!path.starts_with("ExperimentRun/")) return "other";
    const bool is_log = path.find("/user_logs/") != std::string_view::npos ||
                        path.find("/system_logs/") != std::string_view::npos;
    return is_log ? "logs" : "run artifacts";
  }
  if (path.starts_with("azureml/")) return "outputs";
  return path.starts_with("LocalUpload/") ? "uploads" : "other";
}

}  // namespace

FileKinds::FileKinds(const std::vector<store::AssetPlace>& places) {
  for (const store::AssetPlace& place : places) {
    if (place.path.empty()) continue;
    named_.emplace(full_path(place.workspace, place.container, place.path), name_of(place.kind));
  }
}

/// Looks for the file and each folder above it, the nearest first.
std::string_view FileKinds::of(const store::BlobKey& key) const {
  std::string path = full_path(key.workspace, key.container, key.path);
  const std::size_t root = path.size() - key.path.size();
  while (!named_.empty() && path.size() > root) {
    const auto found = named_.find(path);
    if (found != named_.end()) return found->second;
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos || slash < root) break;
    path.resize(slash);
  }
  return by_folder(key);
}

void report_storage(const ReportParts& parts, Workspaces workspaces, bool is_whole,
                    std::function<void(Result<json::object>)> done) {
  auto work = std::make_shared<Work>(Work{.parts = parts,
                                          .workspaces = std::move(workspaces),
                                          .is_whole = is_whole,
                                          .done = std::move(done)});
  parts.store.inspect([work](store::StorageReader& reader) -> std::function<void()> {
    const auto places = reader.asset_places();
    if (!places) return [work, error = places.error()] { work->done(fail(error)); };
    work->kinds = FileKinds(*places);
    return [work] { step(work); };
  });
}

}  // namespace berth::server
