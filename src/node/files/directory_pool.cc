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
/// The clock by which a file system says when a directory was changed stands still for up to a
/// hundredth of a second. A folder that was marked so long before an attempt began has another time
/// after any change.
constexpr Duration kSettled(500);

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
bool empty_log(int attempt) {
  constexpr const char* kLog = "user_logs/std_log.txt";
  if (!is_ours_alone(attempt, kLog)) return false;
  const io::Descriptor log(::openat(attempt, kLog, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!log || ::fcntl(log.get(), F_SETLEASE, F_WRLCK) != 0) return false;
  struct stat found {};
  const bool is_known = ::fstat(log.get(), &found) == 0;
  return is_known && (found.st_size == 0 || ::ftruncate(log.get(), 0) == 0);
}

}  // namespace

/// Looks at what one attempt left.
class DirectoryPool::Inspection {
 public:
  explicit Inspection(ssize_t attributes_size) : attributes_size_(attributes_size) {}

  /// The attempt's directory, the only one of its job, has the folders and records it was given and
  /// nothing else beside them.
  bool has_plain_top(int job, const std::string& attempt, const io::Descriptor& top) const {
    if (!holds_only(job, {attempt}) || !is_plain(top)) return false;
    if (!holds_only(top.get(),
                    {"launch.json", "shim.json", "exit.json", "shim.lock", "user_logs", "wd"})) {
      return false;
    }
    return std::ranges::all_of(
        std::initializer_list<const char*>{"launch.json", "shim.json", "exit.json", "shim.lock"},
        [&](const char* name) { return is_ours_alone(top.get(), name); });
  }

  /// And those hold nothing but what they were made with.
  bool has_plain_folders(const io::Descriptor& top) const {
    const io::Descriptor work = open_directory(top.get(), "wd");
    const io::Descriptor logs = open_directory(top.get(), "user_logs");
    return is_plain(work) && holds_only(work.get(), {"outputs", "logs"}) &&
           is_empty(work.get(), "outputs") && is_empty(work.get(), "logs") && is_plain(logs) &&
           holds_only(logs.get(), {"std_log.txt"});
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

namespace {

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

DirectoryPool::DirectoryPool(const Clock& clock, std::string work_root, std::size_t most)
    : clock_(clock), work_root_(std::move(work_root)), most_(most) {
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
  if (clock_.now().mono - kept.marked_at >= kSettled) {
    placed_[attempt] = {.marks = kept.marks, .marked_at = kept.marked_at};
  }
  kept_.pop_back();
  return true;
}

std::optional<DirectoryPool::Mark> DirectoryPool::mark_of(int attempt, std::string_view folder) {
  struct stat found {};
  const std::string path(folder);
  if (::fstatat(attempt, path.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return Mark{.inode = found.st_ino, .changed = found.st_ctim};
}

DirectoryPool::Marks DirectoryPool::marks_of(int attempt) {
  Marks marks;
  for (std::size_t place = 0; place < marks.size(); ++place) {
    marks[place] = mark_of(attempt, kUsual[place]);
  }
  return marks;
}

bool DirectoryPool::is_untouched(const wire::node::AttemptRef& attempt,
                                 std::string_view folder) const {
  const auto placed = placed_.find(attempt);
  const auto* const usual = std::ranges::find(kUsual, folder);
  if (placed == placed_.end() || usual == std::end(kUsual)) return false;
  const auto& mark = placed->second.marks[static_cast<std::size_t>(usual - std::begin(kUsual))];
  const std::string path =
      work_root_ + "/" + wire::node::attempt_directory(attempt) + "/" + std::string(folder);
  return mark && mark == mark_of(AT_FDCWD, path);
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
  const auto placed = placed_.extract(attempt);
  const auto give_up = [&] {
    ::unlink((job + "/" + leaf + "/launch.json").c_str());
    return false;
  };
  if (attempt.attempt != 1 || kept_.size() >= most_) return give_up();
  const io::Descriptor directory = open_directory(AT_FDCWD, job);
  const io::Descriptor top = open_directory(directory.get(), leaf);
  const Inspection inspection(attributes_size_);
  if (!inspection.has_plain_top(directory.get(), leaf, top)) return give_up();
  Kept kept{.name = std::to_string(++last_name_), .leaf = leaf, .marks = marks_of(top.get())};
  if (placed && placed.mapped().marks == kept.marks) {
    kept.marked_at = placed.mapped().marked_at;
  } else {
    kept.marked_at = clock_.now().mono;
    if (!inspection.has_plain_folders(top)) return give_up();
  }
  if (!empty_log(top.get()) || !put_records_aside(top.get()) ||
      ::rename(job.c_str(), (work_root_ + "/" + kPool + "/" + kept.name).c_str()) != 0) {
    return give_up();
  }
  kept_.push_back(std::move(kept));
  return true;
}

}  // namespace berth::node
