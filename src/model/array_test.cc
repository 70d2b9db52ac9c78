// SPDX-License-Identifier: Apache-2.0
#include "model/array.h"

#include <gtest/gtest.h>

namespace berth::model {
namespace {

TEST(Array, ReadsARangeAndHowManyAtOnce) {
  const ArrayWork array = array_from("3-50%4", {.command = "x"}).value();
  EXPECT_EQ(array, (ArrayWork{.each = {.command = "x"}, .first = 3, .last = 50, .at_once = 4}));
  EXPECT_EQ(to_text(array), "3-50%4");
  EXPECT_EQ(to_text(array_from(" 0-9 ", {}).value()), "0-9");
  EXPECT_EQ(to_text(array_from("7", {}).value()), "7-7");
}

TEST(Array, RefusesWhatIsNoRange) {
  for (const char* wrong :
       {"", "a", "1-", "-1", "1-2-3", "1-2%", "1-2%0", "1-2%x", "1,2", "99999999999", "1-2%-1"}) {
    const auto array = array_from(wrong, {});
    ASSERT_FALSE(array) << wrong;
    EXPECT_EQ(array.error().target, "properties.berth.array");
  }
}

}  // namespace
}  // namespace berth::model
