// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

using namespace std::chrono_literals;

WallTime at(std::int64_t milliseconds) { return WallTime(Duration(milliseconds)); }

TEST(WallTimeText, IsWrittenAsAzureWritesIt) {
  EXPECT_EQ(to_iso8601(at(1'794'789'912'345)), "2026-11-16T00:45:12.345Z");
  EXPECT_EQ(to_iso8601(at(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_iso8601(at(-1)), "1969-12-31T23:59:59.999Z");
}

TEST(WallTimeText, IsReadBackExactly) {
  for (const std::int64_t time : {0LL, -1LL, 1'794'789'912'345LL, 951'782'400'000LL}) {
    EXPECT_EQ(wall_time_from_iso8601(to_iso8601(at(time))).value(), at(time));
  }
}

TEST(WallTimeText, ZonesAreTakenOff) {
  const WallTime wanted = wall_time_from_iso8601("2026-11-16T00:45:12Z").value();
  EXPECT_EQ(wall_time_from_iso8601("2026-11-16T01:45:12+01:00").value(), wanted);
  EXPECT_EQ(wall_time_from_iso8601("2026-11-15T19:15:12-0530").value(), wanted);
  EXPECT_EQ(wall_time_from_iso8601("2026-11-16 00:45:12").value(), wanted);
}

TEST(WallTimeText, DigitsFinerThanMillisecondsAreCutOff) {
  EXPECT_EQ(wall_time_from_iso8601("1970-01-01T00:00:00.1239999Z").value(), at(123));
}

TEST(WallTimeText, NonsenseIsRefused) {
  for (const char* text : {"", "now", "2026-13-01", "2026-02-30T00:00:00Z", "2026-11-16T24:00:00Z",
                           "2026-11-16T00:00:00Zx", "2026-11-16T00:00:00.Z", "-026-11-16"}) {
    EXPECT_FALSE(wall_time_from_iso8601(text)) << text;
  }
}

TEST(DurationText, IsWrittenInDaysHoursMinutesAndSeconds) {
  EXPECT_EQ(to_iso8601(5400s), "PT1H30M");
  EXPECT_EQ(to_iso8601(0s), "PT0S");
  EXPECT_EQ(to_iso8601(86'400s), "P1D");
  EXPECT_EQ(to_iso8601(90'061s), "P1DT1H1M1S");
}

TEST(DurationText, IsReadBackExactly) {
  for (const std::chrono::seconds duration : {0s, 1s, 60s, 3599s, 5400s, 90'061s, 2'000'000'000s}) {
    EXPECT_EQ(seconds_from_iso8601(to_iso8601(duration)).value(), duration);
  }
}

TEST(DurationText, WeeksAndFractionsAreUnderstood) {
  EXPECT_EQ(seconds_from_iso8601("P1W").value(), 604'800s);
  EXPECT_EQ(seconds_from_iso8601("PT1.5S").value(), 1s);
}

TEST(DurationText, NonsenseAndUnitsWithoutALengthAreRefused) {
  for (const char* text : {"", "P", "PT", "P1Y", "P1M", "1H", "PT1", "PT1H30", "P1H", "PT1.5H",
                           "PT-1S", "P1DT", "PT99999999999999999999S", "PT9999999999H"}) {
    EXPECT_FALSE(seconds_from_iso8601(text)) << text;
  }
}

TEST(HttpDate, HasTheDayAndMonthInEnglish) {
  EXPECT_EQ(to_http_date(at(1'794'789'912'345)), "Mon, 16 Nov 2026 00:45:12 GMT");
}

TEST(SimClock, StandsStillUntilToldToMove) {
  SimClock clock;
  const Now before = clock.now();
  EXPECT_EQ(clock.now().mono, before.mono);
  clock.advance(5s);
  EXPECT_EQ(clock.now().mono - before.mono, 5s);
  EXPECT_EQ(clock.now().wall - before.wall, 5s);
}

}  // namespace
}  // namespace berth
