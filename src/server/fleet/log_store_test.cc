// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/log_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/temporary_directory.h"

namespace berth::server {
namespace {

class LogStoreTest : public testing::Test {
 protected:
  std::vector<store::Piece> seal(int attempt) {
    std::vector<store::Piece> pieces;
    logs.seal(key, attempt, [&](Result<std::vector<store::Piece>> sealed) {
      ASSERT_TRUE(sealed);
      pieces = *std::move(sealed);
    });
    return pieces;
  }

  std::size_t files() const { return io::list_tree(directory.path())->size(); }

  io::TemporaryDirectory directory;
  io::ObjectStore objects = *io::ObjectStore::open(directory / "objects");
  io::InlineOffload disk;
  LogStore logs{directory / "live", objects, disk};
  model::JobKey key{{"ws"}, "job"};
};

TEST_F(LogStoreTest, AJobThatSaysNothingCostsNoFile) {
  EXPECT_EQ(logs.append(key, 1, 0, ""), 0u);
  EXPECT_TRUE(seal(1).empty());
  EXPECT_EQ(files(), 0u);
  logs.drop(key, 1);
}

TEST_F(LogStoreTest, WhatWasSaidIsAnObjectAndThenNoLiveLog) {
  EXPECT_EQ(logs.append(key, 1, 0, "one\n"), 4u);
  EXPECT_EQ(logs.append(key, 1, 0, ""), 4u);

  const auto pieces = seal(1);
  logs.drop(key, 1);

  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].size, 4u);
  EXPECT_TRUE(objects.open_object(pieces[0].sha256));
  EXPECT_EQ(files(), 1u);
}

TEST_F(LogStoreTest, BecomesAnObjectWithoutACopy) {
  EXPECT_TRUE(logs.append(key, 1, 0, "one\n"));

  const auto pieces = seal(1);

  struct stat live {
  }, object{};
  ASSERT_EQ(::stat((directory / "live/ws/job/1").c_str(), &live), 0);
  ASSERT_EQ(::stat(objects.path_of(pieces.at(0).sha256).c_str(), &object), 0);
  EXPECT_EQ(live.st_ino, object.st_ino) << "a full disk has no room for a copy";
}

TEST_F(LogStoreTest, WhatIsAnObjectDoesNotChangeAnyMore) {
  EXPECT_TRUE(logs.append(key, 1, 0, "one\n"));
  const auto pieces = seal(1);

  EXPECT_EQ(logs.append(key, 1, 4, "two\n"), 4u);
  LogStore next{directory / "live", objects, disk};
  ASSERT_TRUE(next.recover([](const model::JobKey&, int) { return true; }));
  EXPECT_EQ(next.append(key, 1, 4, "two\n"), 4u) << "nor after a restart";

  EXPECT_EQ(io::read_file(objects.path_of(pieces.at(0).sha256)), "one\n");
}

TEST_F(LogStoreTest, TwoLogsThatSayTheSameAreOneObject) {
  const model::JobKey other{{"ws"}, "other"};
  EXPECT_TRUE(logs.append(key, 1, 0, "one\n"));
  EXPECT_TRUE(logs.append(other, 1, 0, "one\n"));

  const auto first = seal(1);
  logs.drop(key, 1);
  logs.seal(other, 1, [&](const Result<std::vector<store::Piece>>& sealed) {
    ASSERT_TRUE(sealed);
    EXPECT_EQ(sealed->at(0).sha256, first.at(0).sha256);
  });
  logs.drop(other, 1);

  EXPECT_EQ(files(), 1u);
}

TEST_F(LogStoreTest, ALogThatAServerLeftBehindGoesOnOrGoes) {
  const model::JobKey other{{"ws"}, "over"};
  EXPECT_TRUE(logs.append(key, 2, 0, "one\n"));
  EXPECT_TRUE(logs.append(other, 1, 0, "two\n"));

  LogStore next{directory / "live", objects, disk};
  ASSERT_TRUE(next.recover([&](const model::JobKey& job, int) { return job == key; }));

  EXPECT_EQ(next.append(key, 2, 0, ""), 4u);
  EXPECT_EQ(files(), 1u);
}

TEST_F(LogStoreTest, AFolderThatACrashLeftEmptyGoes) {
  ASSERT_TRUE(io::make_directories(directory / "live/ws/made"));
  EXPECT_TRUE(logs.append(key, 2, 0, "one\n"));

  LogStore next{directory / "live", objects, disk};
  ASSERT_TRUE(next.recover([](const model::JobKey&, int) { return true; }));

  EXPECT_NE(::access((directory / "live/ws/made").c_str(), F_OK), 0);
  EXPECT_EQ(next.append(key, 2, 0, ""), 4u);
}

}  // namespace
}  // namespace berth::server
