// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace berth::io {

/// Owns a file descriptor. Always close-on-exec.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

/// The Error for an errno: ENOSPC and EDQUOT are OutOfSpace, ENOENT is NotFound, EEXIST Conflict.
Error error_from_errno(int error_number, std::string_view doing_what);

/// A file under construction: an unpredictable name, mode 0600, removed unless persist() was
/// called.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  static Result<TemporaryFile> make(const std::string& directory);
  TemporaryFile(TemporaryFile&&) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) noexcept;
  ~TemporaryFile();

  int fd() const { return file_.get(); }
  const std::string& path() const { return path_; }
  Status write(std::string_view bytes);
  Status sync();
  /// Renames it to its final place, replacing what is there. The caller syncs the directory.
  Status persist(const std::string& target);

 private:
  std::string path_{};
  Descriptor file_{};
};

/// A directory that nothing opened through it can leave: every path is resolved with
/// openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS), or component by
/// component with O_NOFOLLOW where the kernel has no openat2.
class Root {
 public:
  static Result<Root> open(const std::string& directory);

  const std::string& path() const { return path_; }
  int fd() const { return directory_.get(); }
  Result<Descriptor> open_for_reading(std::string_view relative) const;
  /// Creates missing parents (mode 0700). `flags` beside O_CREAT | O_WRONLY: O_TRUNC, O_APPEND, …
  Result<Descriptor> open_for_writing(std::string_view relative, int flags,
                                      unsigned mode = 0600) const;
  Status make_directories(std::string_view relative, unsigned mode = 0700) const;
  Status remove(std::string_view relative) const;       ///< A file; one that is not there is fine.
  Status remove_tree(std::string_view relative) const;  ///< Never follows a link out; likewise.

 private:
  std::string path_{};
  Descriptor directory_{};
};

struct FileEntry {
  std::string path{};  ///< Relative, '/'-separated.
  std::uint64_t size = 0;
  unsigned mode = 0;
};

/// Every regular file below the directory, sorted by path. Symbolic links are followed only when
/// they stay inside the directory; others, and anything that is not a file, are reported through
/// `skipped` and left out. Cycles end.
Result<std::vector<FileEntry>> list_tree(const std::string& directory,
                                         const std::function<void(std::string_view)>& skipped = {});

Result<std::string> read_file(const std::string& path, std::uint64_t limit = 64u << 20);
/// Temporary name, sync, rename, sync of the directory.
Status write_file(const std::string& path, std::string_view bytes, unsigned mode = 0600);
Status make_directories(const std::string& path, unsigned mode = 0700);
Status sync_directory(const std::string& path);
Status write_all(int fd, std::string_view bytes);

/// An exclusive advisory lock (flock) on a file, made if missing. Held until destroyed.
class FileLock {
 public:
  static Result<FileLock> try_lock(const std::string& path);  ///< Conflict when somebody has it.
  /// Conflict when somebody still has it after so long: a process that was killed holds its locks
  /// until the kernel has taken it apart.
  static Result<FileLock> lock_within(const std::string& path, Duration patience);
  static Result<FileLock> lock(const std::string& path);  ///< Waits.

 private:
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace berth::io
