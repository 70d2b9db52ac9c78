// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "base/text.h"

namespace berth {
namespace {

TEST(Random, HexHasTwoDigitsPerByteAndDiffers) {
  EXPECT_TRUE(std::regex_match(random_hex(16), std::regex("[0-9a-f]{32}")));
  EXPECT_NE(random_hex(16), random_hex(16));
}

TEST(Random, UuidsAreOfVersionFour) {
  const std::regex form("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  for (int round = 0; round < 20; ++round) EXPECT_TRUE(std::regex_match(random_uuid(), form));
}

TEST(Random, BelowReachesEveryNumberAndNoOther) {
  std::set<std::size_t> seen;
  for (int round = 0; round < 1000; ++round) seen.insert(random_below(5));
  EXPECT_EQ(seen, (std::set<std::size_t>{0, 1, 2, 3, 4}));
}

TEST(Random, JobNamesAreResourceNamesAndDiffer) {
  const std::string name = random_job_name();
  EXPECT_TRUE(std::regex_match(name, std::regex("[a-z]+_[a-z]+_[a-z0-9]{10}"))) << name;
  EXPECT_TRUE(is_resource_name(name));
  EXPECT_NE(random_job_name(), name);
  EXPECT_TRUE(std::regex_match(random_display_name(), std::regex("[a-z]+-[a-z]+-[a-z0-9]{4}")));
}

}  // namespace
}  // namespace berth
