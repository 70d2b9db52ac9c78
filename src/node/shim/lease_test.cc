// SPDX-License-Identifier: Apache-2.0
#include "node/shim/lease.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/files/temporary_directory.h"

namespace berth::node {
namespace {

using namespace std::chrono_literals;

class LeaseFileTest : public testing::Test {
 protected:
  LeaseFileTest() { EXPECT_TRUE(io::make_directories(attempt)); }

  io::TemporaryDirectory directory;
  std::string attempt = directory / "ws/job/1";
};

TEST_F(LeaseFileTest, ANodeWithoutOneHasNoLease) {
  LeaseWatch watch(attempt);

  EXPECT_FALSE(watch.has_lapsed(1000h));
  EXPECT_GT(watch.pause(0s), 1h);
}

TEST_F(LeaseFileTest, NothingIsGrantedUntilItIsWritten) {
  const auto file = LeaseFile::make(directory.path());
  ASSERT_TRUE(file);

  EXPECT_TRUE(LeaseWatch(attempt).has_lapsed(1ms));
}

TEST_F(LeaseFileTest, TheWatcherSeesEveryChange) {
  auto file = LeaseFile::make(directory.path());
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->set(10s));
  LeaseWatch watch(attempt);
  EXPECT_FALSE(watch.has_lapsed(9s));
  EXPECT_EQ(watch.pause(10s - 3ms), 3ms);

  ASSERT_TRUE(file->set(20s));
  EXPECT_FALSE(watch.has_lapsed(19s));
  ASSERT_TRUE(file->set(std::nullopt));
  EXPECT_FALSE(watch.has_lapsed(1000h));
  ASSERT_TRUE(file->set(30s));
  EXPECT_TRUE(watch.has_lapsed(30s));
}

TEST_F(LeaseFileTest, WhatCannotBeReadHasLapsed) {
  auto file = LeaseFile::make(directory.path());
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->set(std::nullopt));
  LeaseWatch watch(attempt);
  ASSERT_FALSE(watch.has_lapsed(1h));

  ASSERT_EQ(::truncate((directory / "lease").c_str(), 8), 0);

  EXPECT_TRUE(watch.has_lapsed(1h));
}

}  // namespace
}  // namespace berth::node
