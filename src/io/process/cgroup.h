// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/files/file.h"

namespace berth::io {

/// One cgroup tree that this process is in. Version 2 has one; version 1 one per controller, of
/// which only these help; a hybrid machine has both.
struct CgroupHierarchy {
  enum class Kind { Unified, Memory, Pids, Cpu };
  Kind kind = Kind::Unified;
  std::string own_directory{};  ///< This process's own group.
};

/// Reads /proc/self/mountinfo and /proc/self/cgroup.
std::vector<CgroupHierarchy> parse_hierarchies(std::string_view mounts, std::string_view groups);
std::vector<CgroupHierarchy> own_hierarchies();

struct MemoryUse {
  std::uint64_t out_of_memory_kills = 0;
  std::uint64_t peak_bytes = 0;  ///< 0: not known.
};

/// A control group for one process tree: it counts and limits memory, and finds every member
/// whatever it did to its parents. Where none can be made (no root, no delegation) there is simply
/// none; callers go on without.
class Cgroup {
 public:
  /// Makes `berth/<name>` below this process's own group in every hierarchy that lets it. An error
  /// when none does.
  static Result<Cgroup> make(const std::string& name, std::optional<std::uint64_t> memory_limit);
  /// Likewise, below the groups that this process was in when it asked for own_hierarchies().
  static Result<Cgroup> make(const std::vector<CgroupHierarchy>& hierarchies,
                             const std::string& name, std::optional<std::uint64_t> memory_limit);
  /// One that another process made.
  static Cgroup adopt(std::vector<std::string> directories);
  /// What there is of one that another process of these groups made, or was about to.
  static Cgroup find(const std::vector<CgroupHierarchy>& hierarchies, const std::string& name);

  /// Holds it to that many cores, where the kernel lets us; `name` as in make(). Before enter().
  void limit_cpu(const std::string& name, double cores);

  /// Holds it to that many processes and threads, of which the caller may be one; false where the
  /// kernel does not let us. May be repeated with another number.
  bool limit_processes(std::uint64_t most) const;

  const std::vector<std::string>& directories() const { return directories_; }
  void enter() const;  ///< Moves the calling process in, where that works.
  void leave() const;  ///< Moves it back to where it was when it made the group.
  // The calling process, which may be inside as well, does not count as a member.
  bool is_empty() const;
  std::vector<pid_t> members() const;
  void kill() const;  ///< SIGKILL to every member, at once where the kernel can. Leaves first.
  std::uint64_t out_of_memory_kills() const;
  MemoryUse memory_use() const;
  void remove() const;  ///< Once empty; otherwise it stays.

 private:
  std::vector<std::string> directories_{};
  std::vector<std::string> homes_{};  ///< The group of the one who made it, in each hierarchy.
};

/// Reads Cgroup::out_of_memory_kills() again and again without opening anything.
class KillCounter {
 public:
  explicit KillCounter(const Cgroup& group);
  std::uint64_t read() const;

 private:
  std::vector<Descriptor> files_{};
};

/// Removes the empty groups of ours that `is_stale` says so of, by their names.
void remove_stale_groups(const std::vector<CgroupHierarchy>& hierarchies,
                         const std::function<bool(std::string_view)>& is_stale);

}  // namespace berth::io
