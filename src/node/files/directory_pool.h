// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/node/message.h"

namespace berth::node {

/// Directories of attempts that are over, to be used again: making a dozen files and folders and
/// removing them costs more than a short job. Blocks, for a few system calls. Loop thread only.
///
/// What is kept looks as if it had just been made: a job that left, changed or linked anything has
/// its directory removed instead. Nothing outside of `.pool` is ever taken for a directory of the
/// pool, so one that a crash left half way is found as any attempt is.
class DirectoryPool {
 public:
  /// Removes what an agent before us kept.
  DirectoryPool(std::string work_root, std::size_t most);
  ~DirectoryPool();
  DirectoryPool(const DirectoryPool&) = delete;
  DirectoryPool& operator=(const DirectoryPool&) = delete;

  /// Makes the attempt's directory with what the launch wants to find in it.
  Status lay_out(const wire::node::Launch& launch);

  /// Takes it back. False when it cannot be used again: remove it then. Either way it is no
  /// attempt's any more.
  bool take_back(const wire::node::AttemptRef& attempt);

 private:
  bool place_kept(const wire::node::AttemptRef& attempt);

  std::string work_root_;
  std::size_t most_;
  struct Kept {
    std::string name{};  ///< In `.pool`.
    std::string leaf{};  ///< Of the attempt's own directory in there.
  };
  std::vector<Kept> kept_{};
  std::size_t last_name_ = 0;
  ssize_t attributes_size_ = 0;  ///< Of extended attributes that every directory here has.
};

}  // namespace berth::node
