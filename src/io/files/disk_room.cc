// SPDX-License-Identifier: Apache-2.0
#include "io/files/disk_room.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "io/files/file.h"

namespace berth::io {

Result<DiskRoom> disk_room(const std::string& path) {
  struct statvfs found {};
  if (::statvfs(path.c_str(), &found) != 0) {
    return fail(error_from_errno(errno, fmt::format("look at the disk of '{}'", path)));
  }
  // Some file systems keep their last blocks for root.
  const std::uint64_t blocks = ::geteuid() == 0 ? found.f_bfree : found.f_bavail;
  return DiskRoom{.total = found.f_blocks * found.f_frsize, .free = blocks * found.f_frsize};
}

std::uint64_t room_taken(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return 0;
  return static_cast<std::uint64_t>(found.st_blocks) * 512;  // Whatever the file system's block is.
}

Status keep_room(const std::string& path, std::uint64_t size) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return fail(error_from_errno(errno, fmt::format("open '{}'", path)));
  int result = 0;
  do {
    result = ::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size));
  } while (result != 0 && errno == EINTR);
  if (result == 0 || errno == EOPNOTSUPP) return Done{};
  return fail(error_from_errno(errno, fmt::format("keep room for '{}'", path)));
}

}  // namespace berth::io
