// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/loop.h"
#include "io/offload.h"
#include "store/overlay.h"
#include "store/sqlite.h"
#include "store/store.h"
#include "store/tracking_reader.h"

namespace berth::store {

/// Where searches run that may have to look at every run there is, one after the other: the loop,
/// on which all else depends, does not wait for them.
class SearchThread {
 public:
  SearchThread(Database database, io::Loop& loop)
      : database_(std::move(database)), thread_(loop, 1) {}
  /// What runs is interrupted, and what has not begun is dropped.
  ~SearchThread() { database_.interrupt(); }

  void run(Store::Reading reading) {
    thread_.run([this, reading = std::move(reading)] { return reading(tracking_); });
  }

 private:
  Database database_;
  const Overlay nothing_pending_{};
  TrackingReader tracking_{database_, nothing_pending_};
  io::ThreadOffload thread_;  // Last: it uses the members above, so it must be joined first.
};

}  // namespace berth::store
