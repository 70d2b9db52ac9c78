// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/snapshot.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/digest.h"
#include "base/text.h"
#include "cli/transfer/ignore.h"
#include "io/files/file.h"
#include "model/assets/reference.h"

namespace berth::cli {
namespace {

namespace fs = std::filesystem;

Result<IgnoreRules> read_rules(const std::string& folder) {
  for (const char* name : {"/.amlignore", "/.gitignore"}) {
    const auto text = io::read_file(folder + name, 1u << 20);
    if (text) return IgnoreRules::parse(*text);
    if (text.error().code != Code::NotFound) return fail(text.error());
  }
  return IgnoreRules::parse("");
}

/// Before anything is sent: the server would refuse it half way.
Status check_name(const std::string& path) {
  const Result<std::string> checked = model::checked_blob_path(path);
  if (checked) return Done{};
  return fail(Code::InvalidArgument,
              fmt::format("{}: no file of that name can be sent; rename it, or leave it out by "
                          ".amlignore",
                          checked.error().message));
}

Result<Snapshot> snapshot_of_file(const fs::path& path) {
  std::error_code failed;
  TRY(check_name(path.filename().string()));
  const std::uint64_t size = fs::file_size(path, failed);
  if (failed) return fail(Code::InvalidArgument, fmt::format("cannot read '{}'", path.string()));
  return Snapshot{
      .files = {{.path = path.filename().string(), .source = path.string(), .size = size}},
      .bytes = size};
}

Status check_limits(const Snapshot& snapshot, const SnapshotLimits& limits) {
  if (snapshot.files.size() <= limits.files && snapshot.bytes <= limits.bytes) return Done{};
  return fail(Code::TooLarge,
              fmt::format("it has {} files or more, {} or more; the limit is {} files and {}",
                          snapshot.files.size(), human_bytes(snapshot.bytes), limits.files,
                          human_bytes(limits.bytes)));
}

void warn_of_skipped(const std::vector<std::string>& skipped, const Warn& warn) {
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < std::min(skipped.size(), kShown); ++i) {
    warn(fmt::format("'{}' is left out: it is no file, or a link that leads out of the folder",
                     skipped[i]));
  }
  if (skipped.size() > kShown) {
    warn(fmt::format("{} more like it are left out", skipped.size() - kShown));
  }
}

/// State directories below a folder, with a slash at their ends: what is in them is nobody's code,
/// and the keys to everything.
std::vector<std::string> find_state(const std::vector<io::FileEntry>& entries) {
  constexpr std::string_view kToken = "owner.token";
  std::set<std::string_view> paths;
  for (const io::FileEntry& entry : entries) paths.insert(entry.path);
  std::vector<std::string> found;
  for (const std::string_view path : paths) {
    const std::string folder(path.substr(0, path.rfind('/') + 1));
    const bool is_state =
        path.substr(folder.size()) == kToken && paths.contains(folder + "installation.id");
    if (is_state) found.push_back(folder);
  }
  return found;
}

Status hash_file(const SnapshotFile& file, Digest& digest) {
  const io::Descriptor input(open(file.source.c_str(), O_RDONLY | O_CLOEXEC));
  if (!input) return fail(io::error_from_errno(errno, "cannot read '" + file.source + "'"));
  std::string buffer(256 * 1024, '\0');
  for (;;) {
    const ssize_t size = read(input.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return fail(io::error_from_errno(errno, "cannot read '" + file.source + "'"));
    if (size == 0) return Done{};
    digest.update(std::string_view(buffer).substr(0, static_cast<std::size_t>(size)));
  }
}

}  // namespace

Result<Snapshot> take_snapshot(const std::string& path, const SnapshotLimits& limits,
                               const Warn& warn) {
  std::error_code failed;
  if (fs::is_regular_file(path, failed)) return snapshot_of_file(path);
  if (!fs::is_directory(path, failed)) {
    return fail(Code::InvalidArgument, fmt::format("there is no file or folder '{}'", path));
  }
  const IgnoreRules rules = TRY(read_rules(path));
  std::vector<std::string> skipped;
  const auto entries = TRY(io::list_tree(path, [&](std::string_view left_out) {
    if (!rules.leaves_out(left_out)) skipped.emplace_back(left_out);
  }));
  warn_of_skipped(skipped, warn);
  const std::vector<std::string> state = find_state(entries);
  for (const std::string& folder : state) {
    warn(fmt::format("'{}' is left out: it is a state directory of Berth", path + "/" + folder));
  }
  Snapshot snapshot;
  for (const io::FileEntry& entry : entries) {
    const bool is_state = std::ranges::any_of(
        state, [&](const std::string& folder) { return entry.path.starts_with(folder); });
    if (is_state || rules.leaves_out(entry.path)) continue;
    TRY(check_name(entry.path));
    snapshot.files.push_back(
        {.path = entry.path, .source = path + "/" + entry.path, .size = entry.size});
    snapshot.bytes += entry.size;
    TRY(check_limits(snapshot, limits));
  }
  std::ranges::stable_sort(snapshot.files, {},
                           [](const SnapshotFile& file) { return to_lower(file.path); });
  return snapshot;
}

Result<std::string> content_hash(const Snapshot& snapshot) {
  Digest digest;
  digest.update(std::to_string(snapshot.files.size()));
  for (const SnapshotFile& file : snapshot.files) {
    digest.update("#" + file.path + "#" + std::to_string(file.size));
  }
  for (const SnapshotFile& file : snapshot.files) TRY(hash_file(file, digest));
  return to_hex(digest.finish());
}

}  // namespace berth::cli
