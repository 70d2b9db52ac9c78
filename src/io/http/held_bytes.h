// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

namespace berth::io {

/// What requests hold of the server's memory: bodies that come in and answers that have not left,
/// counted for each caller. Small ones cost less than counting them would. Loop thread only.
class HeldBytes {
 public:
  static constexpr std::size_t kSmall = 16 * 1024;

  explicit HeldBytes(std::size_t limit) : limit_(limit) {}

  bool is_full(const std::string& caller) const {
    if (callers_.empty()) return false;
    const auto found = callers_.find(caller);
    return found != callers_.end() && found->second >= limit_;
  }

  /// One request's part, given back with it. The table must outlive it.
  class Part {
   public:
    explicit Part(HeldBytes& table) : table_(table) {}
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part() { set(0); }

    void set_caller(std::string caller) {
      set(0);
      caller_ = std::move(caller);
    }
    const std::string& caller() const { return caller_; }

    /// False, and nothing is counted: the caller holds too much already.
    bool set(std::size_t bytes) {
      if (bytes <= kSmall) bytes = 0;
      if (bytes == counted_) return true;
      std::size_t& held = table_.callers_[caller_];
      held -= counted_;
      // One alone may be larger than the limit: it would never come through otherwise.
      const bool fits = bytes == 0 || held == 0 || held + bytes <= table_.limit_;
      counted_ = fits ? bytes : 0;
      held += counted_;
      if (held == 0) table_.callers_.erase(caller_);
      return fits;
    }

   private:
    HeldBytes& table_;
    std::string caller_{};
    std::size_t counted_ = 0;
  };

 private:
  std::size_t limit_;
  std::unordered_map<std::string, std::size_t> callers_{};
};

}  // namespace berth::io
