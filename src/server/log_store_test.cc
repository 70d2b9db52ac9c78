// SPDX-License-Identifier: Apache-2.0
#include "server/log_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/temporary_directory.h"

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
