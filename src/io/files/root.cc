// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/random.h"
#include "io/files/beneath.h"
#include "io/files/file.h"

namespace berth::io {
namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int kDeepest = 48;  // One open descriptor a level while removing.

tl::unexpected<Error> failed(std::string_view verb, std::string_view path) {
  return fail(error_from_errno(errno, fmt::format("{} '{}'", verb, path)));
}

/// Makes each segment below `directory` and returns the last one, opened.
Result<Descriptor> descend(int directory, std::span<const std::string_view> segments,
                           unsigned mode) {
  Descriptor current(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
  if (!current) return failed("open", ".");
  for (const std::string_view segment : segments) {
    const std::string name(segment);
    if (::mkdirat(current.get(), name.c_str(), mode) != 0 && errno != EEXIST) {
      return failed("make the directory", segment);
    }
    Descriptor next(
        ::openat(current.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return failed("open the directory", segment);
    current = std::move(next);
  }
  return current;
}

/// Removes a directory whatever its depth: what lies too deep is first moved up to `top`, which is
/// the tree itself and is read until it is empty.
class TreeRemoval {
 public:
  Status remove(int parent, const std::string& name) {
    Descriptor directory = TRY(open_directory(parent, name));
    if (!directory) return Done{};
    top_ = directory.get();
    TRY(empty(directory.get(), 0));
    return unlink(parent, name, AT_REMOVEDIR);
  }

 private:
  /// No descriptor when there was no directory there (any more): a file or link was removed.
  static Result<Descriptor> open_directory(int parent, const std::string& name) {
    Descriptor directory(::openat(parent, name.c_str(), kDirectoryFlags));
    if (!directory && errno == EACCES) {
      ::fchmodat(parent, name.c_str(), 0700, 0);
      directory = Descriptor(::openat(parent, name.c_str(), kDirectoryFlags));
    }
    if (directory) {
      ::fchmod(directory.get(), 0700);  // Jobs leave read-only directories behind.
      return directory;
    }
    if (errno != ENOTDIR && errno != ELOOP && errno != ENOENT) return failed("open", name);
    TRY(unlink(parent, name, 0));
    return Descriptor{};
  }

  static Status unlink(int parent, const std::string& name, int flags) {
    if (::unlinkat(parent, name.c_str(), flags) == 0 || errno == ENOENT) return Done{};
    return failed("remove", name);
  }

  /// Some file systems skip entries when others are removed meanwhile: read until nothing is left.
  Status empty(int directory, int depth) {
    bool found_any = true;
    while (found_any) found_any = TRY(empty_once(directory, depth));
    return Done{};
  }

  Result<bool> empty_once(int directory, int depth) {
    DIR* const entries = ::fdopendir(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
    if (entries == nullptr) return failed("read", ".");
    const std::unique_ptr<DIR, int (*)(DIR*)> closer(entries, ::closedir);
    ::rewinddir(entries);
    bool found_any = false;
    while (const dirent* entry = ::readdir(entries)) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      found_any = true;
      TRY(remove_entry(directory, name, depth));
    }
    return found_any;
  }

  Status remove_entry(int directory, const std::string& name, int depth) {
    const Descriptor child = TRY(open_directory(directory, name));
    if (!child) return Done{};
    if (depth < kDeepest) {
      TRY(empty(child.get(), depth + 1));
      return unlink(directory, name, AT_REMOVEDIR);
    }
    const std::string raised = ".deep-" + random_hex(8);
    if (::renameat(directory, name.c_str(), top_, raised.c_str()) != 0) return failed("move", name);
    return Done{};
  }

  int top_ = -1;
};

}  // namespace

Result<Root> Root::open(const std::string& directory) {
  Root root;
  root.path_ = directory;
  root.directory_ = Descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.directory_) return failed("open the directory", directory);
  return root;
}

Result<Descriptor> Root::open_for_reading(std::string_view relative) const {
  return open_beneath(fd(), relative, O_RDONLY);
}

Result<Descriptor> Root::open_for_writing(std::string_view relative, int flags,
                                          unsigned mode) const {
  Result<Descriptor> opened = open_beneath(fd(), relative, O_CREAT | O_WRONLY | flags, mode);
  if (opened || opened.error().code != Code::NotFound) return opened;
  const std::vector<std::string_view> segments = TRY(checked_segments(relative));
  TRY(descend(fd(), std::span(segments).first(segments.size() - 1), 0700));
  return open_beneath(fd(), relative, O_CREAT | O_WRONLY | flags, mode);
}

Status Root::make_directories(std::string_view relative, unsigned mode) const {
  if (relative.empty() || relative == ".") return Done{};
  const std::vector<std::string_view> segments = TRY(checked_segments(relative));
  TRY(descend(fd(), segments, mode));
  return Done{};
}

namespace {

/// The directory that holds the last segment; empty when it is not there.
Result<Descriptor> parent_beneath(int directory, std::string_view relative) {
  const std::vector<std::string_view> segments = TRY(checked_segments(relative));
  if (segments.size() == 1) {
    Descriptor self(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
    if (!self) return failed("open", ".");
    return self;
  }
  const std::string_view last = segments.back();
  const std::string_view parent =
      relative.substr(0, std::size_t(last.data() - relative.data()) - 1);
  Result<Descriptor> opened = open_beneath(directory, parent, O_PATH | O_DIRECTORY);
  if (!opened && opened.error().code == Code::NotFound) return Descriptor{};
  return opened;
}

std::string last_segment(std::string_view relative) {
  if (relative.ends_with('/')) relative.remove_suffix(1);
  return std::string(relative.substr(relative.find_last_of('/') + 1));
}

}  // namespace

Status Root::remove(std::string_view relative) const {
  const Descriptor parent = TRY(parent_beneath(fd(), relative));
  if (!parent) return Done{};
  const std::string name = last_segment(relative);
  if (::unlinkat(parent.get(), name.c_str(), 0) == 0 || errno == ENOENT) return Done{};
  return failed("remove", relative);
}

Status Root::remove_tree(std::string_view relative) const {
  const Descriptor parent = TRY(parent_beneath(fd(), relative));
  if (!parent) return Done{};
  return TreeRemoval().remove(parent.get(), last_segment(relative));
}

}  // namespace berth::io
