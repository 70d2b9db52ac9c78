// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace berth::io {

/// How much a file system holds, and how much of that this process could still write.
struct DiskRoom {
  std::uint64_t total = 0;
  std::uint64_t free = 0;
};

/// Of the file system that `path` is on. From any thread.
Result<DiskRoom> disk_room(const std::string& path);

/// How much room a file takes, or has kept for it; 0 when it is not there.
std::uint64_t room_taken(const std::string& path);

/// Gives a file room up to `size`, which nobody else can take any more, and leaves its length as it
/// is. The file is made when it is not there. OutOfSpace when there is not so much; file systems
/// that cannot promise room keep none, and that is no error.
Status keep_room(const std::string& path, std::uint64_t size);

}  // namespace berth::io
