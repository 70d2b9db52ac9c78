// SPDX-License-Identifier: Apache-2.0
#include "node/files/disk_room.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>

#include "base/text.h"

namespace berth::node {
namespace {

constexpr std::uint64_t kNoRoom = 64 * 1024;  ///< Less is nothing to anybody.
constexpr std::uint64_t kMuch = 8;            ///< One part in so many.
constexpr int kMostEntries = 200'000;

std::uint64_t size_of(const struct statvfs& disk) {
  return std::uint64_t{disk.f_blocks} * disk.f_frsize;
}

/// Root may use what is kept back for it.
std::uint64_t room_of(const struct statvfs& disk) {
  return std::uint64_t{::geteuid() == 0 ? disk.f_bfree : disk.f_bavail} * disk.f_frsize;
}

std::uint64_t bytes_below(const std::string& directory) {
  namespace fs = std::filesystem;
  std::uint64_t bytes = 0;
  std::error_code failed;
  fs::recursive_directory_iterator entry(directory, fs::directory_options::skip_permission_denied,
                                         failed);
  for (int count = 0; !failed && entry != fs::end(entry) && count < kMostEntries; ++count) {
    struct stat found {};
    if (::lstat(entry->path().c_str(), &found) == 0) {
      bytes += static_cast<std::uint64_t>(found.st_blocks) * 512;
    }
    entry.increment(failed);
  }
  return bytes;
}

}  // namespace

std::string name_of_disk(const std::string& directory) {
  struct statvfs disk {};
  if (::statvfs(directory.c_str(), &disk) != 0) return "the disk of its node";
  return fmt::format("the disk of its node ({})", human_bytes(size_of(disk)));
}

std::string full_disk(const std::string& directory) {
  struct statvfs disk {};
  if (::statvfs(directory.c_str(), &disk) != 0 || disk.f_blocks == 0) return "";
  const bool has_files_left = disk.f_files == 0 || disk.f_ffree > 0;
  return room_of(disk) < kNoRoom || !has_files_left ? name_of_disk(directory) : "";
}

bool holds_much_of_its_disk(const std::string& directory) {
  struct statvfs disk {};
  if (::statvfs(directory.c_str(), &disk) != 0) return false;
  return bytes_below(directory) >= size_of(disk) / kMuch;
}

}  // namespace berth::node
