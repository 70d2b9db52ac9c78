// SPDX-License-Identifier: Apache-2.0
#include "io/files/private_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "io/files/file.h"

namespace berth::io {
namespace {

constexpr mode_t kOthers = 077;
constexpr int kShallowLevels = 2;
constexpr int kDeepest = 48;  // One open descriptor a level.

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

tl::unexpected<Error> failed(std::string_view verb, const std::string& path) {
  return fail(error_from_errno(errno, fmt::format("{} '{}'", verb, path)));
}

Result<std::vector<std::string>> names_in(int directory, const std::string& path) {
  DIR* const entries = ::fdopendir(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
  if (entries == nullptr) return failed("read", path);
  const std::unique_ptr<DIR, int (*)(DIR*)> closer(entries, ::closedir);
  ::rewinddir(entries);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && name != "lost+found") names.push_back(name);
  }
  return names;
}

Result<Descriptor> open_directory(int parent, const std::string& name, const std::string& path) {
  Descriptor opened(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return failed("open", path);
  return opened;
}

Status check_owner(const struct stat& found, const std::string& path) {
  if (found.st_uid == ::geteuid() || found.st_uid == 0) return Done{};
  return fail(Code::Forbidden, fmt::format("'{}' belongs to {}, not to {}: have it changed with "
                                           "chown, or move it away",
                                           path, user_name(found.st_uid), user_name(::geteuid())));
}

/// sudo keeps HOME on some systems: a home that root makes there locks its user out of it.
Status check_new(const std::string& path) {
  const char* caller = ::geteuid() == 0 ? std::getenv("SUDO_UID") : nullptr;
  if (caller == nullptr) return Done{};
  struct stat found {};
  std::filesystem::path above = path;
  while (::stat(above.c_str(), &found) != 0 && above != above.parent_path()) {
    above = above.parent_path();
  }
  if (found.st_uid == 0 || std::to_string(found.st_uid) != caller) return Done{};
  const std::string user = user_name(found.st_uid);
  return fail(Code::Forbidden,
              fmt::format("'{}' would belong to root, in a folder of {}; run it without sudo, or "
                          "choose another state directory (BERTH_HOME)",
                          path, user));
}

class Closing {
 public:
  explicit Closing(const PrivateDirectory& directory) : directory_(directory) {}

  Result<std::vector<std::string>> run() {
    const Descriptor top = TRY(open_directory(AT_FDCWD, directory_.path, directory_.path));
    struct stat found {};
    if (::fstat(top.get(), &found) != 0) return failed("look at", directory_.path);
    if ((found.st_mode & kOthers) != 0)
      TRY(close(AT_FDCWD, directory_.path, directory_.path, found));
    TRY(look_through(top.get(), directory_.path, 1, kShallowLevels));
    if (count_ > 0) TRY(look_through(top.get(), directory_.path, 1, kDeepest));
    return report();
  }

 private:
  Status close(int parent, const std::string& name, const std::string& path,
               const struct stat& found) {
    if (::fchmodat(parent, name.c_str(), found.st_mode & 07777 & ~kOthers, 0) != 0) {
      return failed("close to others", path);
    }
    ++count_;
    if (closed_.size() < 3) {
      closed_.push_back(fmt::format("{} ({:04o})", path, found.st_mode & 07777));
    }
    return Done{};
  }

  Status look_through(int directory, const std::string& path, int level, int levels) {
    for (const std::string& name : TRY(names_in(directory, path))) {
      if (level == 1 && contains(directory_.open, name)) continue;
      const bool is_shallow = level == 1 && contains(directory_.shallow, name);
      TRY(look_at(directory, name, path + "/" + name,
                  {level, is_shallow ? kShallowLevels : levels}));
    }
    return Done{};
  }

  struct Depth {
    int level;
    int levels;
  };

  /// Links are followed at the top only, where an operator may have put one to a larger disk.
  Status look_at(int parent, const std::string& name, const std::string& path, Depth depth) {
    struct stat found {};
    const auto look = [&](int flags) {
      return ::fstatat(parent, name.c_str(), &found, flags) == 0;
    };
    if (!look(AT_SYMLINK_NOFOLLOW)) return Done{};  // It went while we looked.
    TRY(check_owner(found, path));
    if (S_ISLNK(found.st_mode)) {
      if (depth.level > 1 || !look(0)) return Done{};
      TRY(check_owner(found, path));
    }
    const bool is_ours = found.st_uid == ::geteuid();
    if (is_ours && (found.st_mode & kOthers) != 0) TRY(close(parent, name, path, found));
    if (!S_ISDIR(found.st_mode) || depth.level >= depth.levels) return Done{};
    const Descriptor below = TRY(open_directory(parent, name, path));
    return look_through(below.get(), path, depth.level + 1, depth.levels);
  }

  std::vector<std::string> report() const {
    if (count_ == 0) return {};
    const std::size_t more = count_ - closed_.size();
    return {fmt::format("others of this machine could reach {}{}; that is mended",
                        fmt::join(closed_, ", "),
                        more == 0 ? std::string() : fmt::format(" and {} more", more))};
  }

  const PrivateDirectory& directory_;
  std::size_t count_ = 0;
  std::vector<std::string> closed_{};  ///< The first of them, to show.
};

}  // namespace

std::string user_name(unsigned uid) {
  std::vector<char> memory(16 * 1024);
  passwd entry{};
  passwd* found = nullptr;
  (void)::getpwuid_r(uid, &entry, memory.data(), memory.size(), &found);
  return found != nullptr ? found->pw_name : fmt::format("user {}", uid);
}

Status check_private(const PrivateDirectory& directory) {
  const std::string& path = directory.path;
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    return errno == ENOENT ? check_new(path) : failed("look at", path);
  }
  if (found.st_uid != ::geteuid()) {
    const std::string owner = user_name(found.st_uid);
    return fail(Code::Forbidden,
                fmt::format("the state directory {} belongs to {}, and only {} starts a server on "
                            "it; run this as {}, or choose another (--home or BERTH_HOME)",
                            path, owner, owner, owner));
  }
  if ((found.st_mode & kOthers) == 0) return Done{};
  const Descriptor opened = TRY(open_directory(AT_FDCWD, path, path));
  for (const std::string& name : TRY(names_in(opened.get(), path))) {
    if (name == directory.mark) return Done{};
  }
  for (const std::string& name : TRY(names_in(opened.get(), path))) {
    if (contains(directory.known, name)) continue;
    return fail(Code::Forbidden,
                fmt::format("{} is open to others (mode {:04o}) and holds what is not Berth's "
                            "('{}'); give Berth a folder of its own (--home or BERTH_HOME), or "
                            "close this one with chmod 700",
                            path, found.st_mode & 07777, name));
  }
  return Done{};
}

Result<std::vector<std::string>> make_private(const PrivateDirectory& directory) {
  TRY(check_private(directory));
  return Closing(directory).run();
}

}  // namespace berth::io
