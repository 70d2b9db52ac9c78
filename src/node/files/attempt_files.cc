// SPDX-License-Identifier: Apache-2.0
#include "node/files/attempt_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <set>

#include "base/log.h"
#include "base/random.h"
#include "base/text.h"

namespace berth::node {
namespace {

constexpr off_t kRoom = 4096;
constexpr const char* kSetAside = ".gone-";

std::vector<std::string> subdirectories(const std::string& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    struct stat found {};
    const bool is_directory =
        ::fstatat(::dirfd(entries.get()), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISDIR(found.st_mode);
    if (is_directory && entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

std::vector<std::string> entries_of(const std::string& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

void prune(const io::Root& root, const std::string& below, const std::set<std::string>& kept) {
  for (const std::string& name : entries_of(root.path() + "/" + below)) {
    const std::string path = below.empty() ? name : below + "/" + name;
    if (kept.contains(path)) continue;
    const auto inside = kept.lower_bound(path + "/");
    if (inside != kept.end() && inside->starts_with(path + "/")) {
      prune(root, path, kept);
    } else {
      (void)root.remove_tree(path);
    }
  }
}

}  // namespace

AttemptPaths::AttemptPaths(std::string attempt_directory)
    : directory(std::move(attempt_directory)),
      launch(directory + "/launch.json"),
      lock(directory + "/shim.lock"),
      shim(directory + "/shim.json"),
      start(directory + "/start"),
      exit(directory + "/exit.json"),
      log_directory(directory + "/user_logs"),
      log(log_directory + "/std_log.txt") {}

Result<std::string> set_aside(const std::string& work_root, const std::string& directory) {
  std::string path = kSetAside + random_hex(16);
  if (::rename((work_root + "/" + directory).c_str(), (work_root + "/" + path).c_str()) != 0) {
    return fail(io::error_from_errno(errno, fmt::format("move '{}' away", directory)));
  }
  const std::string job = directory.substr(0, directory.rfind('/'));
  ::rmdir((work_root + "/" + job).c_str());
  ::rmdir((work_root + "/" + job.substr(0, job.find('/'))).c_str());
  return path;
}

void remove_set_aside(const std::string& work_root, const std::string& path) {
  const Result<io::Root> root = io::Root::open(work_root);
  const Status removed = root ? root->remove_tree(path) : Status(fail(root.error()));
  if (!removed) log::warning("'{}' stays: {}", path, removed.error().message);
}

std::vector<std::string> find_leavings(const std::string& work_root) {
  for (const std::string& workspace : subdirectories(work_root)) {
    const std::string parent = work_root + "/" + workspace;
    for (const std::string& job : subdirectories(parent)) ::rmdir((parent + "/" + job).c_str());
    ::rmdir(parent.c_str());
  }
  std::vector<std::string> found = entries_of(work_root);
  std::erase_if(found, [](const std::string& name) { return !name.starts_with(kSetAside); });
  return found;
}

namespace {

void remove_all_but(const AttemptPaths& paths, const std::vector<std::string>& kept) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(paths.directory.c_str(), nullptr),
                                                    ::free);
  const Result<io::Root> root = io::Root::open(real ? real.get() : paths.directory);
  if (!root) return;
  std::set<std::string> all = {"launch.json", "shim.lock", "shim.json", "start", "exit.json"};
  for (const std::string& path : kept) {
    all.insert(path);
    const std::unique_ptr<char, void (*)(void*)> target(
        ::realpath((root->path() + "/" + path).c_str(), nullptr), ::free);
    const std::string_view led_to = target ? target.get() : "";
    if (led_to.starts_with(root->path() + "/")) all.emplace(led_to.substr(root->path().size() + 1));
  }
  prune(*root, "", all);
}

}  // namespace

void remove_scratch(const AttemptPaths& paths, const std::vector<std::string>& kept) {
  std::vector<std::string> all = kept;
  all.emplace_back("user_logs");
  remove_all_but(paths, all);
}

void remove_results(const AttemptPaths& paths) { remove_all_but(paths, {}); }

std::vector<std::string> find_attempts(const std::string& work_root) {
  std::vector<std::string> level = {""};
  for (int depth = 0; depth < 3; ++depth) {
    std::vector<std::string> next;
    for (const std::string& parent : level) {
      for (const std::string& name : subdirectories(work_root + "/" + parent)) {
        next.push_back(parent.empty() ? name : parent + "/" + name);
      }
    }
    level = std::move(next);
  }
  return level;
}

std::string spare_name(std::string_view name) { return "." + std::string(name); }

namespace {

std::string spare_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return path.substr(0, slash + 1) + spare_name(std::string_view(path).substr(slash + 1));
}

}  // namespace

Result<io::Descriptor> reserve_file(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW;
  io::Descriptor file(::open(spare_of(path).c_str(), kFlags));
  int error_number = 0;
  if (!file) {  // Else it has its room from before.
    file = io::Descriptor(::open(spare_of(path).c_str(), kFlags | O_CREAT | O_EXCL, 0600));
    if (!file) return fail(io::error_from_errno(errno, fmt::format("make '{}'", path)));
    error_number = ::posix_fallocate(file.get(), 0, kRoom);
  }
  static const std::string blank(kRoom, ' ');  // What was there is nobody's business any more.
  if (error_number != 0 || ::pwrite(file.get(), blank.data(), kRoom, 0) != kRoom) {
    const int reason = error_number != 0 ? error_number : ENOSPC;
    return fail(io::error_from_errno(reason, "reserve room on the disk"));
  }
  return file;
}

Status fill_reserved(const io::Descriptor& spare, const std::string& path, std::string_view text) {
  struct stat found {};
  if (::fstat(spare.get(), &found) != 0) return fail(io::error_from_errno(errno, "read its size"));
  // Longer ones are not cut: that costs more than to read some spaces.
  std::string padded(text);
  padded.resize(std::max(text.size(), static_cast<std::size_t>(found.st_size)), ' ');
  TRY(io::write_all(spare.get(), padded));
  if (::rename(spare_of(path).c_str(), path.c_str()) == 0) return Done{};
  return fail(io::error_from_errno(errno, fmt::format("rename to '{}'", path)));
}

Status overwrite_file(const std::string& path, std::string_view text) {
  const io::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0) {
    return fail(io::error_from_errno(errno, fmt::format("open '{}'", path)));
  }
  std::string padded(text);
  padded.resize(std::max(text.size(), static_cast<std::size_t>(found.st_size)), ' ');
  return io::write_all(file.get(), padded);
}

Status replace_file(const std::string& path, std::string_view text) {
  const io::Descriptor spare(::open(spare_of(path).c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (spare && fill_reserved(spare, path, text)) return Done{};
  io::TemporaryFile file = TRY(io::TemporaryFile::make(path.substr(0, path.find_last_of('/'))));
  TRY(file.write(text));
  return file.persist(path);
}

}  // namespace berth::node
