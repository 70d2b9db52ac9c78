// SPDX-License-Identifier: Apache-2.0
#include "base/back_off.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr int kVeryOften = std::numeric_limits<int>::max();

TEST(BackOff, DoublesWithEveryFailureUpToTheLongestPause) {
  const BackOff back_off{.first = 1s, .longest = 60s};
  const Duration expected[] = {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s};
  int failures = 0;
  for (const Duration pause : expected) EXPECT_EQ(back_off.pause_after(++failures), pause);
}

TEST(BackOff, WithoutAFailureIsTheFirstPause) {
  const BackOff back_off{.first = 1s, .longest = 60s};
  EXPECT_EQ(back_off.pause_after(0), 1s);
  EXPECT_EQ(back_off.pause_after(std::numeric_limits<int>::min()), 1s);
}

TEST(BackOff, NeverOverflows) {
  const BackOff from_a_millisecond{.first = 1ms, .longest = 24h};
  const BackOff from_a_day{.first = 24h, .longest = 48h};
  for (const int failures : {31, 32, 33, 64, 65, kVeryOften}) {
    EXPECT_EQ(from_a_millisecond.pause_after(failures), 24h) << failures;
    EXPECT_EQ(from_a_day.pause_after(failures), 48h) << failures;
  }
}

TEST(BackOff, IsNeverLongerThanTheLongestEvenAtFirst) {
  EXPECT_EQ((BackOff{.first = 5s, .longest = 2s}).pause_after(1), 2s);
}

}  // namespace
}  // namespace berth
