// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "io/files/object_store.h"
#include "io/loop.h"
#include "store/database/room.h"
#include "store/database/sqlite.h"
#include "store/database/way.h"
#include "store/sqlite/rows.h"
#include "store/store.h"

namespace berth::store {

/// The thread that writes. It commits everything that waits in one transaction, so that the cost of
/// a sync is shared by all who came meanwhile; nobody waits for others to come.
///
/// submit() and resume() are called from the loop's thread; `done` runs there, in order of
/// submit(). This is the one thread outside io/: it exists for the database connection that it
/// owns. What the two threads share is the queue below, under its mutex, the counter, and whether
/// there is room.
///
/// The writer also keeps the log short. Its length is `log` of RoomSizes at most, and half as much
/// again where somebody is in the way:
///
///     1/2 log   it is moved into the database, after the answers have gone out, and begun anew
///       1 log   our own readers, without whom it could be begun anew, are interrupted
///     3/2 log   nothing is committed until a reader of another process has gone
class Writer {
 public:
  /// Readers of ours that are kept out meanwhile (way.h).
  using Held = std::vector<Way::Hold>;
  struct Parts {
    io::Loop& loop;
    const io::ObjectStore& objects;
    std::string path;  ///< Of the database.
    /// Called on the loop, once, when the disk cannot be trusted any more: before anybody hears of
    /// the commit that failed. From then on every batch is refused.
    Store::Broken on_broken{};
    /// Called on the writing thread: whoever reads for long is to begin again (below), or to end.
    std::function<Held(bool is_last_resort)> make_way{};
    Duration patience = std::chrono::seconds(5);  ///< With a reader of another process.
    std::optional<RoomSizes> sizes{};             ///< None: as the disk's size has it.
  };
  Writer(Database database, Parts parts);
  ~Writer();  ///< Runs the queue dry first.

  void submit(Batch batch, Store::Committed done);
  /// Batches submitted from now on are taken again after a failure.
  void resume();
  void drain();  ///< Waits until nothing is queued or being written.

  /// Transactions committed so far.
  std::uint64_t transactions() const { return transactions_; }
  bool is_full() const { return room_.is_full(); }

 private:
  struct Item {
    Batch batch{};
    Store::Committed done{};
    bool resumes = false;  ///< Not a batch but the place in the line from which all is well again.
  };
  using Group = std::vector<Item>;

  void work();
  std::optional<Group> take();
  void tend();
  void settle(Group group);
  void settle_batches(Group group);
  void refuse_from_now_on(const Error& error);
  Status commit(const Group& group);
  Status try_commit(const Group& group, bool gives_up_pages);
  Status write_transaction(const Group& group, bool gives_up_pages);
  int pages_of_log(std::int64_t quarters) const;
  Status make_log_room();
  Status shorten_log();
  Status sync_objects(const Group& group) const;
  Status write_rows(const Group& group);

  Parts parts_;
  Database database_;
  RowWriter rows_{database_};
  Room room_;
  SystemClock clock_{};
  // Of the writing thread only:
  std::optional<Error> failure_{};  ///< Set until resumed.
  bool is_broken_ = false;          ///< Then it is not.
  bool is_blocked_ = false;         ///< The log is as long as it may be, and somebody reads it.
  int next_try_ = 0;                ///< Length of the log at which to try again to shorten it.
  TimePoint tended_at_{};
  std::atomic<std::uint64_t> transactions_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> queue_;
  bool is_writing_ = false;
  bool is_stopping_ = false;
  std::jthread thread_;  // Last: it uses the members above, so it must be joined first.
};

}  // namespace berth::store
