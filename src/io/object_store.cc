// SPDX-License-Identifier: Apache-2.0
#include "io/object_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace berth::io {
namespace {

bool is_sha256_hex(const std::string& text) {
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
  if (::access(path.c_str(), F_OK) == 0) {
    ++renames_->made;  // Whoever made it may not have counted it yet.
    return Done{};
  }
  if (::fchmod(file.fd(), 0400) != 0) {
    return fail(error_from_errno(errno, fmt::format("protect '{}'", file.path())));
  }
  TRY(file.persist(path));
  ++renames_->made;
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
