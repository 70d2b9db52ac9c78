// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>

#include "io/files/file.h"

namespace berth::io {
namespace {

/// Links may multiply a tree: n folders that each link twice to the next one are 2^n paths.
constexpr std::size_t kMostThroughLinks = 100'000;

/// A directory on the way down; the chain of parents shows cycles.
struct Visit {
  std::string relative{};
  dev_t device = 0;
  ino_t inode = 0;
  bool through_link = false;
  std::shared_ptr<const Visit> parent{};
};

bool is_above(const std::shared_ptr<const Visit>& visit, const struct stat& directory) {
  for (const Visit* above = visit.get(); above != nullptr; above = above->parent.get()) {
    if (above->device == directory.st_dev && above->inode == directory.st_ino) return true;
  }
  return false;
}

class Listing {
 public:
  Listing(std::string base, const std::function<void(std::string_view)>& skipped)
      : base_(std::move(base)), skipped_(skipped) {}

  Result<std::vector<FileEntry>> run() {
    struct stat self {};
    if (::stat(base_.c_str(), &self) != 0) return failed(errno);
    auto top = std::make_shared<Visit>();
    top->device = self.st_dev;
    top->inode = self.st_ino;
    pending_.push_back(top);
    while (!pending_.empty()) {
      const std::shared_ptr<const Visit> visit = std::move(pending_.back());
      pending_.pop_back();
      TRY(list(visit));
    }
    std::ranges::sort(files_, {}, &FileEntry::path);
    return std::move(files_);
  }

 private:
  tl::unexpected<Error> failed(int error_number) const {
    return fail(error_from_errno(error_number, fmt::format("list '{}'", base_)));
  }

  void skip(const std::string& relative) const {
    if (skipped_) skipped_(relative);
  }

  Status list(const std::shared_ptr<const Visit>& visit) {
    const std::string path = visit->relative.empty() ? base_ : base_ + "/" + visit->relative;
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(path.c_str()), ::closedir);
    if (!entries) {
      if (visit->relative.empty()) return failed(errno);
      skip(visit->relative);
      return Done{};
    }
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      TRY(take(visit, ::dirfd(entries.get()), std::string(name)));
    }
    return Done{};
  }

  Status take(const std::shared_ptr<const Visit>& visit, int directory, const std::string& name) {
    const std::string relative = visit->relative.empty() ? name : visit->relative + "/" + name;
    struct stat found {};
    if (::fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
      skip(relative);
      return Done{};
    }
    bool through_link = visit->through_link;
    if (S_ISLNK(found.st_mode)) {
      const bool is_inside =
          stays_inside(relative) && ::fstatat(directory, name.c_str(), &found, 0) == 0;
      if (!is_inside) {
        skip(relative);
        return Done{};
      }
      through_link = true;
    }
    if (through_link && ++through_links_ > kMostThroughLinks) {
      return fail(Code::TooLarge, fmt::format("symbolic links in '{}' lead to more than {} files",
                                              base_, kMostThroughLinks));
    }
    add(visit, relative, found, through_link);
    return Done{};
  }

  void add(const std::shared_ptr<const Visit>& visit, const std::string& relative,
           const struct stat& found, bool through_link) {
    if (S_ISREG(found.st_mode)) {
      files_.push_back(
          {relative, static_cast<std::uint64_t>(found.st_size), found.st_mode & 07777u});
    } else if (S_ISDIR(found.st_mode) && !is_above(visit, found)) {
      pending_.push_back(std::make_shared<Visit>(
          Visit{relative, found.st_dev, found.st_ino, through_link, visit}));
    } else {
      skip(relative);
    }
  }

  bool stays_inside(const std::string& relative) const {
    const std::unique_ptr<char, void (*)(void*)> real(
        ::realpath((base_ + "/" + relative).c_str(), nullptr), ::free);
    if (!real) return false;
    const std::string_view target = real.get();
    return target == base_ || (target.starts_with(base_) && target.substr(base_.size())[0] == '/');
  }

  std::string base_;
  const std::function<void(std::string_view)>& skipped_;
  std::vector<std::shared_ptr<const Visit>> pending_{};
  std::vector<FileEntry> files_{};
  std::size_t through_links_ = 0;
};

}  // namespace

Result<std::vector<FileEntry>> list_tree(const std::string& directory,
                                         const std::function<void(std::string_view)>& skipped) {
  const std::unique_ptr<char, void (*)(void*)> base(::realpath(directory.c_str(), nullptr), ::free);
  if (!base) return fail(error_from_errno(errno, fmt::format("list '{}'", directory)));
  return Listing(base.get(), skipped).run();
}

}  // namespace berth::io
