// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "store/database/sqlite.h"

namespace berth::store {

/// Lets the writer past a reader of ours. A reader sees the database as it was when it began, and
/// while anybody reads what is in the log, the log cannot begin anew.
class Way {
 public:
  explicit Way(Database& reader) : reader_(reader) {}

  struct Release {
    void operator()(Way* way) const { way->release(); }
  };
  /// Either the reader has it, or the writer.
  using Hold = std::unique_ptr<Way, Release>;

  /// The reader holds this while it reads; it waits here while the way is kept clear.
  Hold read() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [this] { return !is_held_; });
    is_held_ = true;
    return Hold(this);
  }
  /// Changes whenever what runs is interrupted.
  std::uint64_t interruptions() const { return interruptions_; }

  /// From any thread: what runs ends with an error.
  void interrupt() {
    ++interruptions_;
    reader_.interrupt();
  }

  /// From another thread than the reader's: interrupts what runs, and keeps the reader out for as
  /// long as the answer is held. The answer is empty when the reader did not end in time.
  Hold clear() {
    std::unique_lock lock(mutex_);
    // An interrupt between two statements reaches neither.
    for (int tries = 0; is_held_ && tries < kMostTries; ++tries) {
      interrupt();
      freed_.wait_for(lock, std::chrono::milliseconds(1), [this] { return !is_held_; });
    }
    if (is_held_) return nullptr;
    is_held_ = true;
    return Hold(this);
  }

 private:
  static constexpr int kMostTries = 250;

  void release() {
    const std::lock_guard lock(mutex_);
    is_held_ = false;
    freed_.notify_all();
  }

  Database& reader_;
  std::mutex mutex_;
  std::condition_variable freed_;
  bool is_held_ = false;
  std::atomic<std::uint64_t> interruptions_ = 0;
};

}  // namespace berth::store
