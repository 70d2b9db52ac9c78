// SPDX-License-Identifier: Apache-2.0
#include "node/lease.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/temporary_directory.h"

namespace berth::node {
namespace {

using namespace std::chrono_literals;
using wire::node::LeaseRenewed;

TEST(Lease, OneThatWasNeverGivenDoesNotLapse) {
  Lease lease;
  lease.asked(0ms);
  lease.welcomed(std::nullopt);

  EXPECT_FALSE(lease.has_lapsed(1000h));
  EXPECT_FALSE(lease.interval());
}

TEST(Lease, CountsFromWhenItWasAskedForNotFromWhenTheAnswerCame) {
  Lease lease;
  lease.asked(100s);
  lease.welcomed(9s);
  EXPECT_EQ(lease.interval(), 3s);
  EXPECT_EQ(lease.deadline(), 109s);

  const auto beat = lease.beat(103s);
  lease.renewed({beat.number, 9s}, 0ms);

  EXPECT_FALSE(lease.has_lapsed(112s - 1ms));
  EXPECT_TRUE(lease.has_lapsed(112s));
}

TEST(Lease, AnAnswerToAnOlderHeartbeatOrToNoneDoesNotShortenOrLengthenIt) {
  Lease lease;
  lease.asked(0s);
  lease.welcomed(9s);
  const auto first = lease.beat(3s);
  const auto second = lease.beat(6s);

  lease.renewed({second.number, 9s}, 0ms);
  lease.renewed({first.number, 9s}, 0ms);
  lease.renewed({second.number, 900s}, 0ms);
  lease.renewed({77, 900s}, 0ms);

  EXPECT_EQ(lease.deadline(), 15s);
}

TEST(Lease, AnswersOfAnEarlierConnectionDoNotCount) {
  Lease lease;
  lease.asked(0s);
  lease.welcomed(9s);
  const auto beat = lease.beat(3s);
  lease.asked(5s);
  lease.welcomed(9s);

  lease.renewed({beat.number, 900s}, 0ms);

  EXPECT_EQ(lease.deadline(), 14s);
}

TEST(Lease, AServerThatStopsInGoodOrderGivesALongOneThatTheNextWelcomeEnds) {
  Lease lease;
  lease.asked(0s);
  lease.welcomed(9s);
  lease.renewed({0, 1h}, 4s);
  EXPECT_EQ(lease.deadline(), 1h + 4s);

  lease.asked(2000s);
  lease.welcomed(9s);

  EXPECT_EQ(lease.deadline(), 2009s);
}

TEST(Lease, OneThatLapsedCanBeGrantedAnew) {
  Lease lease;
  lease.asked(0s);
  lease.welcomed(9s);
  ASSERT_TRUE(lease.has_lapsed(20s));
  lease.renewed({lease.beat(20s).number, 9s}, 0ms);

  EXPECT_FALSE(lease.has_lapsed(28s));
}

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
