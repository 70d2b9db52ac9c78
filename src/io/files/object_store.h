// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/files/file.h"
#include "io/files/object_use.h"

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
  /// after sync(). From then on it is in use, until need() says which rows name it: call that in
  /// the same turn of the loop, or hold the object until then.
  Status adopt(TemporaryFile file, const std::string& sha256_hex) const;
  /// Returns at once when nothing was adopted since the last one; otherwise blocks, and is meant
  /// for the store's writer thread.
  Status sync(const std::string& sha256_hex) const;

  /// For as long as they are held, these objects are in use: rows that name them are on their way
  /// to the disk.
  std::shared_ptr<void> need(std::vector<std::string> names) const;

  // Taking away what nothing names. One sweep at a time: begin, find out which objects the rows
  // name, remove the others, end. What comes into use meanwhile is noted and stays.

  void begin_sweep() const { use_->begin_sweep(); }
  void end_sweep() const { use_->end_sweep(); }
  struct Removed {
    bool is_removed = false;  ///< False: it is in use, or not there.
    std::uint64_t size = 0;
  };
  /// Only if nobody has it in use. `is_trial`: only tells. Blocks for as long as the file system
  /// takes; nobody who adopts an object waits for that.
  Result<Removed> remove_unused(const std::string& sha256_hex, bool is_trial) const;
  /// Calls back with the name of everything that is in the directory. `is_object` is false for
  /// other files: what an upload was writing when a server died.
  Status list(const std::function<void(std::string_view name, bool is_object)>& visit) const;

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
  std::shared_ptr<ObjectUse> use_ = std::make_shared<ObjectUse>();
};

}  // namespace berth::io
