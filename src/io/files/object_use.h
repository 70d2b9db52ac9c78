// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"

namespace berth::io {

/// Which objects somebody has in use although no row on disk need name them yet. It stands between
/// those who store objects and the one who removes them: a name is either in use before it is
/// looked at, or gone before it is adopted. Any thread.
class ObjectUse {
 public:
  /// Runs `put` while nothing can be removed. The object is in use until need(), or, when nobody
  /// ever needs it, until the second sweep from now begins.
  Status adopt(const std::string& name, const std::function<Status()>& put);
  void need(const std::vector<std::string>& names);
  void release(const std::vector<std::string>& names);

  /// From here on every name that comes into use is noted, however soon it is released: rows that
  /// were read before may not show it.
  void begin_sweep();
  void end_sweep();
  /// Runs `remove` unless the object is in use, or was at any time since the sweep began.
  Result<bool> remove_unused(const std::string& name, const std::function<Status()>& remove);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::uint64_t> adopted_;  ///< In which sweep's time.
  std::unordered_map<std::string, int> needed_;             ///< By how many.
  std::unordered_set<std::string> noted_;                   ///< During a sweep.
  std::uint64_t sweep_ = 0;
  bool is_sweeping_ = false;
};

}  // namespace berth::io
