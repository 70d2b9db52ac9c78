// SPDX-License-Identifier: Apache-2.0
// The log of the database stays short, whoever reads it.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "store/database/foreign_reader.h"
#include "store/database/room.h"
#include "store/database/schema.h"
#include "store/sqlite/fixture.h"

namespace berth::store {
namespace {

constexpr std::uintmax_t kMiB = 1u << 20;
/// As on a disk of 64 MiB.
const RoomSizes kSizes = room_sizes(64 * kMiB);

class LogLengthTest : public StoreFixture {
 protected:
  /// Without the store of the fixture: a database of its own.
  LogLengthTest() { store.reset(); }

  std::string path() const { return directory() + "/own.db"; }
  std::uintmax_t log_size() const {
    std::error_code none;
    const std::uintmax_t size = std::filesystem::file_size(path() + "-wal", none);
    return none ? 0 : size;
  }

  Database open_database() {
    Database database = Database::open(path(), Database::Mode::ReadWrite).value();
    EXPECT_TRUE(database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF"));
    EXPECT_TRUE(migrate(database));
    return database;
  }
  std::unique_ptr<Writer> make_writer(std::function<Writer::Held(bool)> make_way = {}) {
    return std::make_unique<Writer>(open_database(), Writer::Parts{.loop = loop,
                                                                   .objects = objects,
                                                                   .path = path(),
                                                                   .make_way = std::move(make_way),
                                                                   .patience = Duration(20),
                                                                   .sizes = kSizes});
  }

  /// Changes a job of 200 KiB so often that the log would be that long; notes how long it
  /// becomes. The first answer that is no success ends it.
  Status change(Writer& writer, std::uintmax_t bytes) {
    constexpr std::uintmax_t kSize = kMiB / 5;
    model::Job large = job(1, "large");
    Status last = Done{};
    for (std::uintmax_t written = 0; written < bytes && last; written += kSize) {
      large.description = std::string(kSize, static_cast<char>('a' + written / kSize % 26));
      writer.submit({Put<model::Job>{large}}, [&](const Status& status) {
        last = status;
        loop.stop();
      });
      run_loop();
      writer.drain();
      longest = std::max(longest, log_size());
    }
    return last;
  }

  std::uintmax_t longest = 0;
};

TEST_F(LogLengthTest, TheLogIsMovedIntoTheDatabaseWhileTheWriterGoesOn) {
  const auto writer = make_writer();
  EXPECT_TRUE(change(*writer, 12 * kMiB));
  // Half of it, then the pages of the reserve when those are made meanwhile, and one change.
  EXPECT_LE(longest, static_cast<std::uintmax_t>(kSizes.log));
}

TEST_F(LogLengthTest, AReaderOfOursThatStaysIsInterruptedBeforeTheLogIsLong) {
  ASSERT_TRUE(change(*make_writer(), 1));
  Database reader = Database::open(path(), Database::Mode::ReadWrite).value();
  Way way(reader);
  std::atomic<int> interruptions = 0;
  std::atomic<bool> reads = false;
  std::jthread reading([&](const std::stop_token& stop) {
    while (true) {
      const auto held = way.read();
      if (stop.stop_requested()) return;
      auto rows = reader.query(
          "WITH RECURSIVE c(x) AS (SELECT length(doc) FROM jobs UNION ALL SELECT x + 1 FROM c) "
          "SELECT x FROM c");
      while (rows && rows->next()) reads = true;
      ++interruptions;
    }
  });
  while (!reads) std::this_thread::yield();
  {
    const auto writer = make_writer([&](bool) {
      Writer::Held held;
      held.push_back(way.clear());
      return held;
    });
    EXPECT_TRUE(change(*writer, 20 * kMiB));
  }
  reading.request_stop();
  (void)way.clear();
  reading.join();
  EXPECT_LE(longest, 8 * kMiB);
  EXPECT_GE(interruptions, 2);
}

TEST_F(LogLengthTest, AReaderOfAnotherProcessThatStaysHoldsUpChangesUntilItGoes) {
  const auto writer = make_writer();
  ASSERT_TRUE(change(*writer, 1));
  Database reader = Database::open(path(), Database::Mode::ReadWrite).value();
  std::optional<Cursor> row = reader.query("SELECT doc FROM jobs").value();
  ASSERT_TRUE(row->next().value());

  const Status refused = change(*writer, 20 * kMiB);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Unavailable);
  EXPECT_NE(refused.error().message.find("reading the database"), std::string::npos);
  writer->resume();
  EXPECT_FALSE(change(*writer, 1));
  EXPECT_LE(longest, 8 * kMiB);

  row.reset();
  writer->resume();
  EXPECT_TRUE(change(*writer, 10 * kMiB));
  EXPECT_LE(longest, 8 * kMiB);
}

TEST_F(LogLengthTest, AnInterruptedSearchBeginsAgain) {
  SearchThread searches(open_database(), loop);
  std::atomic<int> began = 0;
  searches.run([&](Tracking&) -> std::function<void()> {
    if (++began == 1) searches.way().interrupt();
    return [this] { loop.stop(); };
  });
  run_loop();
  EXPECT_EQ(began, 2);
}

TEST_F(LogLengthTest, ASearchThatIsAlwaysInterruptedEnds) {
  SearchThread searches(open_database(), loop);
  std::atomic<int> began = 0;
  searches.run([&](Tracking&) -> std::function<void()> {
    ++began;
    searches.way().interrupt();
    return [this] { loop.stop(); };
  });
  run_loop();
  EXPECT_EQ(began, 3);
}

TEST(ForeignReader, IsFoundByItsLock) {
  constexpr std::string_view kLocks =
      "1: FLOCK  ADVISORY  WRITE 100 fe:00:77 0 EOF\n"
      "2: POSIX  ADVISORY  READ 101 fe:00:77 128 128\n"
      "3: POSIX  ADVISORY  READ 102 fe:00:78 124 124\n"
      "4: POSIX  ADVISORY  READ 103 fe:00:77 125 125\n"
      "5: POSIX  ADVISORY  READ 104 fe:00:77 124 124\n";
  EXPECT_EQ(find_reader(kLocks, 77, 103), 104);
  EXPECT_EQ(find_reader(kLocks, 77, 1), 103);
  EXPECT_EQ(find_reader(kLocks, 79, 1), 0);
}

TEST(RoomSizes, AreSmallOnASmallDiskAndNoMoreThanTheLogMayTake) {
  const RoomSizes small = room_sizes(24 * kMiB);
  EXPECT_LT(2 * small.log + 2 * small.chunk + small.reserve + 2 * small.least,
            static_cast<std::int64_t>(6 * kMiB));
  const RoomSizes large = room_sizes(std::uint64_t{1} << 40);
  EXPECT_LE(large.log / 4 * 6, static_cast<std::int64_t>(48 * kMiB));
}

}  // namespace
}  // namespace berth::store
