// SPDX-License-Identifier: Apache-2.0
#include "cli/period.h"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST(Period, IsANumberAndItsUnit) {
  EXPECT_EQ(period_from("30d"), hours(30 * 24));
  EXPECT_EQ(period_from("12h"), hours(12));
  EXPECT_EQ(period_from("45m"), seconds(2700));
  EXPECT_EQ(period_from("2w"), hours(14 * 24));
  EXPECT_EQ(period_from("1s"), seconds(1));
}

TEST(Period, AnythingElseIsRefusedByName) {
  for (const char* text : {"", "d", "30", "-1d", "0d", "3 d", "1d2h", "99999999999999999999d",
                           "9223372036854775807d", "1y"}) {
    const auto period = period_from(text);
    ASSERT_FALSE(period) << text;
    EXPECT_NE(period.error().message.find("30d"), std::string::npos);
  }
}

TEST(Period, IsShownInTheLargestUnitThatFits) {
  EXPECT_EQ(to_text(hours(90 * 24)), "90d");
  EXPECT_EQ(to_text(hours(36)), "36h");
  EXPECT_EQ(to_text(seconds(61)), "61s");
}

}  // namespace
}  // namespace berth::cli
