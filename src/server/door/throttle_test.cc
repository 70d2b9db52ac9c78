// SPDX-License-Identifier: Apache-2.0
#include "server/door/throttle.h"

#include <gtest/gtest.h>

namespace berth::server {
namespace {

constexpr TimePoint at(int milliseconds) { return TimePoint(Duration(milliseconds)); }

TEST(Throttle, LetsABurstPassAndThenARate) {
  Throttle throttle({.at_once = 2, .per_second = 1});
  EXPECT_TRUE(throttle.pass(at(0)));
  EXPECT_TRUE(throttle.pass(at(0)));
  EXPECT_FALSE(throttle.pass(at(0)));
  EXPECT_FALSE(throttle.pass(at(999)));
  EXPECT_TRUE(throttle.pass(at(1000)));
  EXPECT_FALSE(throttle.pass(at(1001)));
  EXPECT_TRUE(throttle.pass(at(10'000)));
  EXPECT_TRUE(throttle.pass(at(10'000)));
  EXPECT_FALSE(throttle.pass(at(10'000))) << "what was not used does not pile up";
}

TEST(PeerThrottle, CountsAddressesAndNotPorts) {
  PeerThrottle throttle({.at_once = 1, .per_second = 1});
  EXPECT_TRUE(throttle.pass("10.0.0.1:1000", at(0)));
  EXPECT_FALSE(throttle.pass("10.0.0.1:1001", at(0)));
  EXPECT_TRUE(throttle.pass("10.0.0.2:1000", at(0)));
  EXPECT_TRUE(throttle.pass("[::1]:1000", at(0)));
  EXPECT_FALSE(throttle.pass("[::1]:1001", at(0)));
}

TEST(PeerThrottle, StaysSmall) {
  PeerThrottle throttle({.at_once = 1, .per_second = 1});
  for (int i = 0; i < 100'000; ++i) throttle.pass(std::to_string(i) + ":1", at(0));
  EXPECT_LE(throttle.size(), 1024u);
}

}  // namespace
}  // namespace berth::server
