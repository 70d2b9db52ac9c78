// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "io/file.h"

namespace berth::io {

/// Content-addressed files, named by SHA-256 in one directory, read-only once there.
///
/// One directory, because making a rename durable costs a sync of its directory (4 ms on a common
/// disk): all that were adopted since the last sync() share one. The price is ext4's limit of some
/// eleven million names in a directory.
class ObjectStore {
 public:
  static Result<ObjectStore> open(const std::string& directory);

  /// Takes in a synced file. Same content twice is one object. Only a rename, which is durable
  /// after sync().
  Status adopt(TemporaryFile file, const std::string& sha256_hex) const;
  /// Returns at once when nothing was adopted since the last one; otherwise blocks, and is meant
  /// for the store's writer thread.
  Status sync(const std::string& sha256_hex) const;

  Result<std::shared_ptr<const Descriptor>> open_object(const std::string& sha256_hex) const;
  std::string path_of(const std::string& sha256_hex) const;
  const std::string& directory() const { return directory_; }

 private:
  /// Shared by copies. Counts renames; what was left by a process before us counts as one.
  struct Renames {
    std::atomic<std::uint64_t> made = 1;
    std::atomic<std::uint64_t> synced = 0;
  };

  std::string directory_{};
  std::shared_ptr<Renames> renames_ = std::make_shared<Renames>();
};

}  // namespace berth::io
