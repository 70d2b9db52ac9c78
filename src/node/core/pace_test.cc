// SPDX-License-Identifier: Apache-2.0
#include "node/core/pace.h"

#include <gtest/gtest.h>

namespace berth::node::core {
namespace {

using namespace std::chrono_literals;

Pace after_short_ones(int slots, int count) {
  Pace pace(slots);
  for (int i = 0; i < count; ++i) pace.ended(3ms);
  return pace;
}

TEST(Pace, ANodeHoldsWhatItRuns) { EXPECT_EQ(Pace(4).ahead(), 0); }

TEST(Pace, ARowOfShortOnesAsksForMore) {
  EXPECT_EQ(after_short_ones(2, 7).ahead(), 0);
  EXPECT_EQ(after_short_ones(2, 8).ahead(), 4);
}

TEST(Pace, ALongOneEndsTheRow) {
  Pace pace = after_short_ones(2, 100);
  pace.ended(2s);
  EXPECT_EQ(pace.ahead(), 0);
}

TEST(Pace, OneThatRunsForLongEndsTheRowBeforeItEnds) {
  Pace pace = after_short_ones(2, 100);
  pace.look(50ms);
  EXPECT_EQ(pace.ahead(), 4);
  pace.look(2s);
  EXPECT_EQ(pace.ahead(), 0);
}

TEST(Pace, NothingToDoEndsTheRow) {
  Pace pace = after_short_ones(2, 100);
  pace.look(std::nullopt);
  EXPECT_EQ(pace.ahead(), 0);
}

TEST(Pace, AtANodeOfOneSlotOneWaits) {
  EXPECT_EQ(after_short_ones(1, 3).ahead(), 0);
  EXPECT_EQ(after_short_ones(1, 4).ahead(), 1);
}

}  // namespace
}  // namespace berth::node::core
