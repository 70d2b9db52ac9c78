// SPDX-License-Identifier: Apache-2.0
#include "cli/query.h"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

namespace json = boost::json;

json::value ask(std::string_view value, std::string_view expression) {
  const auto result = query(json::parse({value.data(), value.size()}), expression);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? *result : json::value("failed");
}

TEST(Query, FollowsKeys) {
  EXPECT_EQ(ask(R"({"services":{"Studio":{"endpoint":"x"}}})", "services.Studio.endpoint"), "x");
  EXPECT_EQ(ask(R"({"a-b":1})", R"("a-b")"), 1);
  EXPECT_EQ(ask(R"({"a":1})", "@").as_object().size(), 1u);
}

TEST(Query, WhatIsMissingIsNull) {
  EXPECT_TRUE(ask(R"({"a":1})", "b").is_null());
  EXPECT_TRUE(ask(R"({"a":1})", "a.b.c").is_null());
  EXPECT_TRUE(ask(R"([1])", "[7]").is_null());
}

TEST(Query, TakesElementsByIndex) {
  EXPECT_EQ(ask("[1,2,3]", "[0]"), 1);
  EXPECT_EQ(ask("[1,2,3]", "[-1]"), 3);
  EXPECT_EQ(ask(R"({"a":[{"b":5}]})", "a[0].b"), 5);
}

TEST(Query, ProjectsListsAndDropsNulls) {
  EXPECT_EQ(json::serialize(ask(R"([{"n":"a"},{"m":1},{"n":"b"}])", "[].n")), R"(["a","b"])");
  EXPECT_EQ(json::serialize(ask(R"([{"n":"a"}])", "[*].n")), R"(["a"])");
  EXPECT_EQ(json::serialize(ask("[[1,2],[3]]", "[]")), "[1,2,3]");
}

TEST(Query, SaysWhatIsNotSupportedYet) {
  for (const char* expression :
       {"[?status=='Failed']", "{a:b}", "length(@)", "a | b", "[0:2]", "a."}) {
    const auto result = query(json::value(nullptr), expression);
    ASSERT_FALSE(result) << expression;
    EXPECT_EQ(result.error().code, Code::NotSupported) << expression;
    EXPECT_NE(result.error().message.find("not supported yet"), std::string::npos);
  }
  EXPECT_FALSE(query(json::value(nullptr), "  "));
}

}  // namespace
}  // namespace berth::cli
