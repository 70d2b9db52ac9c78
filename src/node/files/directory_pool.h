// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
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
  DirectoryPool(const Clock& clock, std::string work_root, std::size_t most);
  ~DirectoryPool();
  DirectoryPool(const DirectoryPool&) = delete;
  DirectoryPool& operator=(const DirectoryPool&) = delete;

  /// Makes the attempt's directory with what the launch wants to find in it.
  Status lay_out(const wire::node::Launch& launch);

  /// Takes it back. False when it cannot be used again: remove it then. Either way it is no
  /// attempt's any more.
  bool take_back(const wire::node::AttemptRef& attempt);
  /// Its directory goes another way.
  void forget(const wire::node::AttemptRef& attempt) { placed_.erase(attempt); }

  /// Whether this folder of the attempt is certain to be as it was laid out, empty. False when that
  /// is not known without a look into it.
  bool is_untouched(const wire::node::AttemptRef& attempt, std::string_view folder) const;

 private:
  /// What changes with a directory: with each name in it, its owner, rights and attributes.
  struct Mark {
    ino_t inode = 0;
    timespec changed{};
    friend bool operator==(const Mark& left, const Mark& right) {
      return left.inode == right.inode && left.changed.tv_sec == right.changed.tv_sec &&
             left.changed.tv_nsec == right.changed.tv_nsec;
    }
  };
  using Marks = std::array<std::optional<Mark>, 4>;  ///< Of kUsual, in its order.
  struct Kept {
    std::string name{};  ///< In `.pool`.
    std::string leaf{};  ///< Of the attempt's own directory in there.
    Marks marks{};
    TimePoint marked_at{};
  };
  /// Of an attempt's directory that was used before: how its folders were, and since when.
  struct Placed {
    Marks marks{};
    TimePoint marked_at{};
  };
  class Inspection;

  bool place_kept(const wire::node::AttemptRef& attempt);
  static std::optional<Mark> mark_of(int attempt, std::string_view folder);
  static Marks marks_of(int attempt);

  const Clock& clock_;
  std::string work_root_;
  std::size_t most_;
  std::vector<Kept> kept_{};
  std::map<wire::node::AttemptRef, Placed> placed_{};
  std::size_t last_name_ = 0;
  ssize_t attributes_size_ = 0;  ///< Of extended attributes that every directory here has.
};

}  // namespace berth::node
