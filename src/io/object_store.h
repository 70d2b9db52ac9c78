// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "io/file.h"

namespace berth::io {

/// Content-addressed files: objects/ab/cdef…, named by SHA-256, read-only once there.
class ObjectStore {
 public:
  static Result<ObjectStore> open(const std::string& directory);

  /// Takes in a synced file. Same content twice is one object. Only a rename: the directory is
  /// synced by sync(), which may block and is meant for the store's writer thread.
  Status adopt(TemporaryFile file, const std::string& sha256_hex) const;
  Status sync(const std::string& sha256_hex) const;

  Result<std::shared_ptr<const Descriptor>> open_object(const std::string& sha256_hex) const;
  std::string path_of(const std::string& sha256_hex) const;
  const std::string& directory() const { return directory_; }

 private:
  std::string directory_{};
};

}  // namespace berth::io
