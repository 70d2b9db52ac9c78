// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/loop.h"
#include "io/offload.h"
#include "store/database/sqlite.h"
#include "store/database/way.h"
#include "store/sqlite/storage_rows.h"
#include "store/store.h"

namespace berth::store {

/// Where whoever looks at all that is kept does so, one after the other. Beside the search thread:
/// people who search do not wait for a sweep.
class InspectThread {
 public:
  InspectThread(Database database, io::Loop& loop)
      : database_(std::move(database)), thread_(loop, 1) {}
  /// What runs is interrupted, and what has not begun is dropped.
  ~InspectThread() { database_.interrupt(); }

  /// What runs is interrupted and ends with an error. What is looked at comes in pages, so this is
  /// for one that takes very long.
  Way& way() { return way_; }

  void run(Store::Inspection inspection) {
    thread_.run([this, inspection = std::move(inspection)] {
      const auto held = way_.read();
      return inspection(reader_);
    });
  }

 private:
  Database database_;
  StorageRows reader_{database_};
  Way way_{database_};
  io::ThreadOffload thread_;  // Last: it uses the members above, so it must be joined first.
};

}  // namespace berth::store
