// SPDX-License-Identifier: Apache-2.0
#include "store/database/like.h"

#include <gtest/gtest.h>

#include "store/database/sqlite.h"

namespace berth::store {
namespace {

TEST(Like, KnowsItsSigns) {
  EXPECT_TRUE(is_like("resnet-50", "resnet%", true));
  EXPECT_TRUE(is_like("resnet-50", "%net-_0", true));
  EXPECT_TRUE(is_like("größe", "gr__e", true));
  EXPECT_TRUE(is_like("", "%%", true));
  EXPECT_TRUE(is_like("abcabd", "%ab_", true));
  EXPECT_TRUE(is_like("a*b?[c]", "a*b?[c]", true));
  EXPECT_FALSE(is_like("resnet-50", "resnet", true));
  EXPECT_FALSE(is_like("resnet", "resnet_", true));
  EXPECT_FALSE(is_like("", "_", true));
}

TEST(Like, HeedsCaseWhenAsked) {
  EXPECT_FALSE(is_like("ResNet", "res%", true));
  EXPECT_TRUE(is_like("ResNet", "rES%", false));
}

TEST(Like, IsNotKeptBusyByManySigns) {
  const std::string text(20'000, 'a');
  std::string pattern;
  for (int count = 0; count < 200; ++count) pattern += "%a";
  EXPECT_FALSE(is_like(text, pattern + "b", true));
}

TEST(Like, IsThereInSql) {
  Result<Database> database = Database::open(":memory:", Database::Mode::ReadWrite);
  EXPECT_EQ(*database->integer("SELECT is_like('ResNet', 'Res%')"), 1);
  EXPECT_EQ(*database->integer("SELECT is_like('ResNet', 'res%')"), 0);
  EXPECT_EQ(*database->integer("SELECT is_ilike('ResNet', 'res%')"), 1);
  EXPECT_EQ(*database->integer("SELECT is_like(NULL, '%') IS NULL"), 1);
}

}  // namespace
}  // namespace berth::store
