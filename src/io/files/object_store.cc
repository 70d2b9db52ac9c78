// SPDX-License-Identifier: Apache-2.0
#include "io/files/object_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace berth::io {
namespace {

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// Object names come from the database as well: they must never become a path of another kind.
Status check_name(const std::string& sha256_hex) {
  if (is_sha256_hex(sha256_hex)) return Done{};
  return fail(Code::NotFound, fmt::format("'{}' is not the name of an object", sha256_hex));
}

}  // namespace

Result<ObjectStore> ObjectStore::open(const std::string& directory) {
  TRY(make_directories(directory));
  ObjectStore store;
  store.directory_ = directory;
  return store;
}

std::string ObjectStore::path_of(const std::string& sha256_hex) const {
  return directory_ + "/" + sha256_hex;
}

Status ObjectStore::adopt(TemporaryFile file, const std::string& sha256_hex) const {
  TRY(check_name(sha256_hex));
  const std::string path = path_of(sha256_hex);
  if (::fchmod(file.fd(), 0400) != 0) {
    return fail(error_from_errno(errno, fmt::format("protect '{}'", file.path())));
  }
  return use_->adopt(sha256_hex, [&]() -> Status {
    // Whoever made the one that is there may not have counted it yet.
    if (::access(path.c_str(), F_OK) != 0) TRY(file.persist(path));
    ++renames_->made;
    return Done{};
  });
}

std::shared_ptr<void> ObjectStore::need(std::vector<std::string> names) const {
  if (names.empty()) return nullptr;
  use_->need(names);
  return std::shared_ptr<void>(
      nullptr, [use = use_, names = std::move(names)](void*) { use->release(names); });
}

Result<ObjectStore::Removed> ObjectStore::remove_unused(const std::string& sha256_hex,
                                                        bool is_trial) const {
  TRY(check_name(sha256_hex));
  const std::string path = path_of(sha256_hex);
  // While it is open, taking its name away is quick; what it held is freed when it is closed, and
  // nobody waits for that.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno == ENOENT) return Removed{};
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0) {
    return fail(error_from_errno(errno, fmt::format("open object '{}'", sha256_hex)));
  }
  Removed removed{.size = static_cast<std::uint64_t>(facts.st_size)};
  removed.is_removed = TRY(use_->remove_unused(sha256_hex, [&]() -> Status {
    if (is_trial || ::unlink(path.c_str()) == 0 || errno == ENOENT) return Done{};
    return fail(error_from_errno(errno, fmt::format("remove object '{}'", sha256_hex)));
  }));
  return removed;
}

Status ObjectStore::list(
    const std::function<void(std::string_view name, bool is_object)>& visit) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(directory_.c_str()), ::closedir);
  if (!directory) return fail(error_from_errno(errno, fmt::format("read '{}'", directory_)));
  errno = 0;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") visit(name, is_sha256_hex(name));
    errno = 0;
  }
  if (errno != 0) return fail(error_from_errno(errno, fmt::format("read '{}'", directory_)));
  return Done{};
}

Status ObjectStore::sync(const std::string& sha256_hex) const {
  TRY(check_name(sha256_hex));
  const std::uint64_t made = renames_->made.load();
  if (renames_->synced.load() >= made) return Done{};
  TRY(sync_directory(directory_));
  // Another thread may have come further; then the next sync() repeats one for nothing.
  renames_->synced.store(made);
  return Done{};
}

Result<std::shared_ptr<const Descriptor>> ObjectStore::open_object(
    const std::string& sha256_hex) const {
  TRY(check_name(sha256_hex));
  const std::string path = path_of(sha256_hex);
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return fail(error_from_errno(errno, fmt::format("open object '{}'", sha256_hex)));
  return std::make_shared<const Descriptor>(std::move(file));
}

}  // namespace berth::io
