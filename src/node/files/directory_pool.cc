// SPDX-License-Identifier: Apache-2.0
#include "node/files/directory_pool.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <initializer_list>

#include "base/log.h"
#include "io/files/file.h"
#include "node/files/attempt_files.h"

namespace berth::node {
namespace {

constexpr const char* kPool = ".pool";
constexpr const char* kRecords[] = {"launch.json", "shim.json", "exit.json"};
/// What every attempt has; others are made and removed each time.
constexpr std::string_view kUsual[] = {"wd", "wd/outputs", "wd/logs", "user_logs"};

io::Descriptor open_directory(int parent, const std::string& name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  return io::Descriptor(::openat(parent, name.c_str(), kFlags));
}

/// Whether exactly these are in a directory that was just opened.
bool holds_only(int directory, std::initializer_list<std::string_view> names) {
  alignas(dirent64) char buffer[2048];
  std::size_t found = 0;
  while (true) {
    const ssize_t size = ::getdents64(directory, buffer, sizeof buffer);
    if (size <= 0) return size == 0 && found == names.size();
    for (ssize_t at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(buffer + at);
      at += entry->d_reclen;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (std::ranges::find(names, name) == names.end()) return false;
      ++found;
    }
  }
}

uid_t own_user() {
  static const uid_t user = ::geteuid();
  return user;
}

/// Nobody else can read it by another name or write it through a descriptor he still has.
bool is_ours_alone(int directory, const char* name) {
  struct stat found {};
  return ::fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(found.st_mode) &&
         found.st_nlink == 1 && found.st_uid == own_user() && (found.st_mode & 07777u) == 0600;
}

/// A log is written by whoever the job gave it to. The kernel grants this lease only when nobody
/// else has the file open.
bool empty_log(int directory) {
  if (!is_ours_alone(directory, "std_log.txt")) return false;
  const io::Descriptor log(::openat(directory, "std_log.txt", O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!log || ::fcntl(log.get(), F_SETLEASE, F_WRLCK) != 0) return false;
  struct stat found {};
  const bool is_known = ::fstat(log.get(), &found) == 0;
  return is_known && (found.st_size == 0 || ::ftruncate(log.get(), 0) == 0);
}

/// Looks at what one attempt left.
class Inspection {
 public:
  explicit Inspection(ssize_t attributes_size) : attributes_size_(attributes_size) {}

  /// `job` holds the one attempt, and that nothing but what it was given.
  bool is_as_made(int job, const std::string& attempt) const {
    if (!holds_only(job, {attempt})) return false;
    const io::Descriptor top = open_directory(job, attempt);
    if (!is_plain(top) || !holds_only(top.get(), {"launch.json", "shim.json", "exit.json",
                                                  "shim.lock", "user_logs", "wd"})) {
      return false;
    }
    for (const char* const name : {"launch.json", "shim.json", "exit.json", "shim.lock"}) {
      if (!is_ours_alone(top.get(), name)) return false;
    }
    const io::Descriptor work = open_directory(top.get(), "wd");
    const io::Descriptor logs = open_directory(top.get(), "user_logs");
    return is_plain(work) && holds_only(work.get(), {"outputs", "logs"}) &&
           is_empty(work.get(), "outputs") && is_empty(work.get(), "logs") && is_plain(logs) &&
           holds_only(logs.get(), {"std_log.txt"}) && empty_log(logs.get());
  }

 private:
  bool is_plain(const io::Descriptor& directory) const {
    struct stat found {};
    return directory && ::fstat(directory.get(), &found) == 0 && found.st_uid == own_user() &&
           (found.st_mode & 07777u) == 0700 &&
           ::flistxattr(directory.get(), nullptr, 0) == attributes_size_;
  }

  bool is_empty(int parent, const char* name) const {
    const io::Descriptor directory = open_directory(parent, name);
    return is_plain(directory) && holds_only(directory.get(), {});
  }

  ssize_t attributes_size_;
};

/// The last part of where an attempt lies, "1-4f2a".
std::string leaf_of(const wire::node::AttemptRef& attempt) {
  const std::string path = wire::node::attempt_directory(attempt);
  return path.substr(path.rfind('/') + 1);
}

/// What was a record becomes room for the next one of its kind; launch.json first: without it no
/// agent takes the rest for an attempt.
bool put_records_aside(int attempt) {
  return std::ranges::all_of(kRecords, [&](const char* name) {
    return ::renameat(attempt, name, attempt, spare_name(name).c_str()) == 0;
  });
}

}  // namespace

DirectoryPool::DirectoryPool(std::string work_root, std::size_t most)
    : work_root_(std::move(work_root)), most_(most) {
  const Result<io::Root> root = io::Root::open(work_root_);
  Status made = root ? root->remove_tree(kPool) : Status(fail(root.error()));
  if (made) made = root->make_directories(kPool);
  if (!made) {
    log::warning("directories are not used again: {}", made.error().message);
    most_ = 0;
    return;
  }
  attributes_size_ = ::flistxattr(open_directory(root->fd(), kPool).get(), nullptr, 0);
}

DirectoryPool::~DirectoryPool() {
  const Result<io::Root> root = io::Root::open(work_root_);
  if (root) (void)root->remove_tree(kPool);
}

bool DirectoryPool::place_kept(const wire::node::AttemptRef& attempt) {
  if (kept_.empty() || attempt.attempt != 1) return false;
  Kept& kept = kept_.back();
  const std::string from = work_root_ + "/" + kPool + "/" + kept.name;
  const std::string leaf = leaf_of(attempt);
  if (::rename((from + "/" + kept.leaf).c_str(), (from + "/" + leaf).c_str()) != 0) return false;
  kept.leaf = leaf;
  const std::string workspace = work_root_ + "/" + attempt.job.workspace.text;
  const std::string to = workspace + "/" + attempt.job.name;
  const auto move = [&] {
    return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0;
  };
  if (!move() && (errno != ENOENT || ::mkdir(workspace.c_str(), 0700) != 0 || !move())) {
    return false;
  }
  kept_.pop_back();
  return true;
}

Status DirectoryPool::lay_out(const wire::node::Launch& launch) {
  const std::string directory = wire::node::attempt_directory(launch.attempt);
  const bool is_made = place_kept(launch.attempt);
  const auto is_usual = [](std::string_view path) {
    return std::ranges::find(kUsual, path) != std::end(kUsual);
  };
  std::vector<std::string> wanted = launch.directories;
  wanted.push_back("user_logs");
  wanted.push_back(launch.working_directory);
  for (const wire::node::Fetch& fetch : launch.fetches) {
    if (fetch.is_folder) wanted.push_back(fetch.destination);
  }
  if (is_made) std::erase_if(wanted, is_usual);
  if (wanted.empty()) return Done{};
  const io::Root work = TRY(io::Root::open(work_root_));
  TRY(work.make_directories(directory));
  const io::Root root = TRY(io::Root::open(work_root_ + "/" + directory));
  for (const std::string& path : wanted) TRY(root.make_directories(path));
  return Done{};
}

bool DirectoryPool::take_back(const wire::node::AttemptRef& attempt) {
  const std::string job = work_root_ + "/" + attempt.job.workspace.text + "/" + attempt.job.name;
  const std::string leaf = leaf_of(attempt);
  const auto give_up = [&] {
    ::unlink((job + "/" + leaf + "/launch.json").c_str());
    return false;
  };
  const io::Descriptor directory = open_directory(AT_FDCWD, job);
  const bool is_wanted = directory && attempt.attempt == 1 && kept_.size() < most_;
  if (!is_wanted || !Inspection(attributes_size_).is_as_made(directory.get(), leaf)) {
    return give_up();
  }
  const io::Descriptor top = open_directory(directory.get(), leaf);
  std::string name = std::to_string(++last_name_);
  if (!put_records_aside(top.get()) ||
      ::rename(job.c_str(), (work_root_ + "/" + kPool + "/" + name).c_str()) != 0) {
    return give_up();
  }
  kept_.push_back({std::move(name), leaf});
  return true;
}

}  // namespace berth::node
