// SPDX-License-Identifier: Apache-2.0
#include "store/like.h"

#include <gtest/gtest.h>

#include "store/sqlite.h"

namespace berth::store {
namespace {

bool is_like(std::string_view text, std::string_view pattern) {
  Result<Database> database = Database::open(":memory:", Database::Mode::ReadWrite);
  const std::string glob = glob_of_like(pattern);
  return *database->integer("SELECT ? GLOB ?", {text, std::string_view(glob)}) == 1;
}

TEST(Like, MeansTheSameAsAGlob) {
  EXPECT_TRUE(is_like("resnet-50", "resnet%"));
  EXPECT_TRUE(is_like("resnet-50", "%net-_0"));
  EXPECT_TRUE(is_like("größe", "gr__e"));
  EXPECT_FALSE(is_like("ResNet", "resnet"));
  EXPECT_FALSE(is_like("resnet-50", "resnet"));
}

TEST(Like, TakesAGlobsOwnSignsAsTheyAre) {
  EXPECT_TRUE(is_like("a*b?c[d]", "a*b?c[d]"));
  EXPECT_FALSE(is_like("aXb?c[d]", "a*b?c[d]"));
  EXPECT_FALSE(is_like("a*bXc[d]", "a*b?c[d]"));
  EXPECT_FALSE(is_like("d", "[d]"));
}

}  // namespace
}  // namespace berth::store
