// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

#include "base/check.h"
#include "io/files/file.h"

namespace berth::io {

/// A directory for a test, removed with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const char* const base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr ? base : "/tmp") + "/berth-test-XXXXXX";
    CHECK(::mkdtemp(path_.data()) != nullptr, "no place for temporary files");
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    const std::size_t slash = path_.find_last_of('/');
    if (const auto parent = Root::open(path_.substr(0, slash))) {
      (void)parent->remove_tree(path_.substr(slash + 1));
    }
  }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace berth::io
