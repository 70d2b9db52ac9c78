// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "io/loop.h"
#include "io/offload.h"
#include "store/database/sqlite.h"
#include "store/database/way.h"
#include "store/overlay.h"
#include "store/sqlite/tracking_reader.h"
#include "store/store.h"

namespace berth::store {

/// Where searches run that may have to look at every run there is, one after the other: the loop,
/// on which all else depends, does not wait for them.
class SearchThread {
 public:
  SearchThread(Database database, io::Loop& loop)
      : database_(std::move(database)), thread_(loop, 1) {}
  /// What runs is interrupted, and what has not begun is dropped.
  ~SearchThread() {
    is_stopping_ = true;
    database_.interrupt();
  }

  void run(Store::Reading reading) {
    thread_.run([this, reading = std::move(reading)] { return read(reading); });
  }

  /// The search that runs is interrupted, and begins again when the way is not held any more.
  Way& way() { return way_; }

 private:
  /// One that is interrupted each time ends with that error.
  static constexpr int kMostTries = 3;

  std::function<void()> read(const Store::Reading& reading) {
    for (int tries = 1;; ++tries) {
      const auto held = way_.read();
      const std::uint64_t before = way_.interruptions();
      std::function<void()> then = reading(tracking_);
      const bool was_interrupted = way_.interruptions() != before;
      if (!was_interrupted || tries == kMostTries || is_stopping_) return then;
    }
  }

  Database database_;
  const Overlay nothing_pending_{};
  TrackingReader tracking_{database_, nothing_pending_};
  Way way_{database_};
  std::atomic<bool> is_stopping_ = false;
  io::ThreadOffload thread_;  // Last: it uses the members above, so it must be joined first.
};

}  // namespace berth::store
