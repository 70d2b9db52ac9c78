// SPDX-License-Identifier: Apache-2.0
#include "store/database/gathered_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "io/files/temporary_directory.h"
#include "store/database/sqlite.h"

namespace berth::store {
namespace {

class GatheredLog : public testing::Test {
 protected:
  std::string path() const { return directory_.path() + "/own.db"; }

  Database open(Database::Mode mode = Database::Mode::Committing) const {
    Database database = Database::open(path(), mode).value();
    EXPECT_TRUE(database.execute("PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL;"));
    return database;
  }

  Database open_with_table() const {
    Database database = open();
    EXPECT_TRUE(database.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT)"));
    return database;
  }

  /// Each has some pages of its own.
  static void add_rows(Database& database, int from, int count) {
    EXPECT_TRUE(database.run("BEGIN IMMEDIATE"));
    for (int number = from; number < from + count; ++number) {
      const std::string text(10'000, static_cast<char>('a' + number % 26));
      EXPECT_TRUE(database.run("INSERT INTO rows VALUES (?, ?)", {std::int64_t{number}, text}));
    }
  }

  static std::int64_t rows_of(Database& database) {
    return database.integer("SELECT count(*) FROM rows").value();
  }

 private:
  io::TemporaryDirectory directory_{};
};

/// Calls of this thread that write, so far.
std::int64_t writes_so_far() {
  std::ifstream file("/proc/thread-self/io");
  std::string name;
  for (std::int64_t value = 0; file >> name >> value;) {
    if (name == "syscw:") return value;
  }
  ADD_FAILURE() << "this kernel does not count them";
  return 0;
}

TEST_F(GatheredLog, ACommitIsOneWrite) {
  Database database = open_with_table();
  add_rows(database, 0, 10);

  const std::int64_t before = writes_so_far();
  ASSERT_TRUE(database.run("COMMIT"));

  EXPECT_EQ(writes_so_far() - before, 1);
  EXPECT_GT(database.log_pages(), 20);
}

TEST_F(GatheredLog, OthersReadACommitAtOnce) {
  Database database = open_with_table();
  Database reader = open(Database::Mode::ReadWrite);

  for (int number = 0; number < 50; ++number) {
    add_rows(database, number, 1);
    EXPECT_EQ(rows_of(reader), number);
    ASSERT_TRUE(database.run("COMMIT"));
    EXPECT_EQ(rows_of(reader), number + 1);
  }
  EXPECT_EQ(reader.integer("SELECT sum(length(text)) FROM rows").value(), 500'000);
}

/// What does not fit into memory is written before the commit, and read again from there.
TEST_F(GatheredLog, ALargeTransactionReadsWhatItWrote) {
  Database database = open_with_table();
  ASSERT_TRUE(database.execute("PRAGMA cache_size = 10"));
  add_rows(database, 0, 300);

  EXPECT_EQ(database.integer("SELECT sum(length(text)) FROM rows").value(), 3'000'000);
  ASSERT_TRUE(database.run("COMMIT"));

  Database reader = open(Database::Mode::ReadWrite);
  EXPECT_EQ(reader.integer("SELECT sum(length(text)) FROM rows").value(), 3'000'000);
  Cursor check = reader.query("PRAGMA integrity_check").value();
  ASSERT_TRUE(check.next().value());
  EXPECT_EQ(check.text(0), "ok");
}

TEST_F(GatheredLog, WhatIsRolledBackIsGone) {
  Database database = open_with_table();
  ASSERT_TRUE(database.execute("PRAGMA cache_size = 10"));
  add_rows(database, 0, 100);
  ASSERT_TRUE(database.run("ROLLBACK"));
  EXPECT_EQ(rows_of(database), 0);

  add_rows(database, 0, 3);
  ASSERT_TRUE(database.run("COMMIT"));
  EXPECT_EQ(rows_of(database), 3);
}

/// As a machine that stops finds it: the files as they are, with no connection closed.
TEST_F(GatheredLog, ACommitIsInTheFiles) {
  Database database = open_with_table();
  add_rows(database, 0, 5);
  ASSERT_TRUE(database.run("COMMIT"));

  const io::TemporaryDirectory other;
  for (const char* suffix : {"", "-wal"}) {
    std::filesystem::copy_file(path() + suffix, other.path() + "/own.db" + suffix);
  }
  Database found = Database::open(other.path() + "/own.db", Database::Mode::ReadWrite).value();
  EXPECT_EQ(rows_of(found), 5);
}

TEST_F(GatheredLog, TheLogBeginsAnew) {
  Database database = open_with_table();
  for (int number = 0; number < 30; ++number) {
    add_rows(database, number, 1);
    ASSERT_TRUE(database.run("COMMIT"));
    const auto how =
        number % 2 == 0 ? Database::Checkpoint::Restart : Database::Checkpoint::Truncate;
    EXPECT_TRUE(database.checkpoint(how, Duration(0)).value());
  }
  Database reader = open(Database::Mode::ReadWrite);
  EXPECT_EQ(rows_of(reader), 30);
}

}  // namespace
}  // namespace berth::store
