// SPDX-License-Identifier: Apache-2.0
#include "base/shared.h"

#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

TEST(Shared, CopiesAreOneUntilOneIsEdited) {
  Shared<std::string> first(std::string("a"));
  Shared<std::string> second = first;
  EXPECT_TRUE(first.is_same(second));

  second.edit() += "b";

  EXPECT_FALSE(first.is_same(second));
  EXPECT_EQ(*first, "a");
  EXPECT_EQ(*second, "ab");
}

TEST(Shared, WhatNobodyElseHasIsEditedInPlace) {
  Shared<std::string> only(std::string("a"));
  const std::string* const before = &*only;

  only.edit() += "b";

  EXPECT_EQ(&*only, before);
}

TEST(Shared, BlankOnesAreOneAndEditingOneLeavesTheOthersBlank) {
  Shared<std::string> first;
  const Shared<std::string> second;
  EXPECT_TRUE(first.is_same(second));

  first.edit() = "a";

  EXPECT_EQ(*second, "");
  EXPECT_EQ(*Shared<std::string>(), "");
}

TEST(Shared, IsEqualByValue) {
  EXPECT_EQ(Shared<std::string>(std::string("a")), Shared<std::string>(std::string("a")));
  EXPECT_FALSE(Shared<std::string>(std::string("a")) == Shared<std::string>(std::string("b")));
}

}  // namespace
}  // namespace berth
