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

#include "io/loop.h"
#include "io/object_store.h"
#include "store/rows.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace berth::store {

/// The thread that writes. It commits everything that waits in one transaction, so that the cost of
/// a sync is shared by all who came meanwhile; nobody waits for others to come.
///
/// submit() and resume() are called from the loop's thread; `done` runs there, in order of
/// submit(). This is the one thread outside io/: it exists for the database connection that it
/// owns. What the two threads share is the queue below, under its mutex, and the counter.
class Writer {
 public:
  /// `on_broken` is called on the loop, once, when the disk cannot be trusted any more: before
  /// anybody hears of the commit that failed. From then on every batch is refused.
  Writer(Database database, io::Loop& loop, const io::ObjectStore& objects,
         Store::Broken on_broken);
  ~Writer();  ///< Runs the queue dry first.

  void submit(Batch batch, Store::Committed done);
  /// Batches submitted from now on are taken again after a failure.
  void resume();
  void drain();  ///< Waits until nothing is queued or being written.

  /// Transactions committed so far.
  std::uint64_t transactions() const { return transactions_; }

 private:
  struct Item {
    Batch batch{};
    Store::Committed done{};
    bool resumes = false;  ///< Not a batch but the place in the line from which all is well again.
  };
  using Group = std::vector<Item>;

  void work();
  Group take();
  void settle(Group group);
  void settle_batches(Group group);
  void refuse_from_now_on(const Error& error);
  Status commit(const Group& group);
  Status shorten_log();
  Status sync_objects(const Group& group) const;
  Status write_rows(const Group& group);

  Database database_;
  RowWriter rows_{database_};
  io::Loop& loop_;
  const io::ObjectStore& objects_;
  Store::Broken on_broken_;
  // Of the writing thread only:
  std::optional<Error> failure_{};  ///< Set until resumed.
  bool is_broken_ = false;          ///< Then it is not.
  std::atomic<std::uint64_t> transactions_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> queue_;
  bool is_writing_ = false;
  bool is_stopping_ = false;
  std::jthread thread_;  // Last: it uses the members above, so it must be joined first.
};

}  // namespace berth::store
