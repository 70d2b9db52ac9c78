// SPDX-License-Identifier: Apache-2.0
#include "node/core/lease.h"

#include <gtest/gtest.h>

namespace berth::node::core {
namespace {

using namespace std::chrono_literals;

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

}  // namespace
}  // namespace berth::node::core
