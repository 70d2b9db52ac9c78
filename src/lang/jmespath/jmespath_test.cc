// SPDX-License-Identifier: Apache-2.0
// What the public compliance suite (tests/jmespath) leaves open: messages, limits, and `az`'s ways.
#include "lang/jmespath/jmespath.h"

#include <gtest/gtest.h>

namespace berth::lang::jmespath {
namespace {

namespace json = boost::json;

Result<json::value> ask(std::string_view document, std::string_view text) {
  const auto expression = compile(text);
  if (!expression) return fail(expression.error());
  return search(*expression, json::parse({document.data(), document.size()}));
}

std::string found(std::string_view document, std::string_view text) {
  const auto result = ask(document, text);
  return result ? json::serialize(*result) : "error: " + result.error().message;
}

TEST(JMESPath, AnswersWhatScriptsAsk) {
  constexpr std::string_view kJobs = R"([
      {"name": "a", "status": "Completed", "tags": {"keep": "yes"}},
      {"name": "b", "status": "Failed", "tags": {}},
      {"name": "c", "status": "Completed", "tags": {}}])";

  EXPECT_EQ(found(kJobs, "[?status=='Completed'].name"), R"(["a","c"])");
  EXPECT_EQ(found(kJobs, "[?status=='Completed'].name | [0]"), R"("a")");
  EXPECT_EQ(found(kJobs, "length([?status!=`Completed`])"), "1");
  EXPECT_EQ(found(kJobs, "[?tags.keep].{n: name, s: status} | [0]"),
            R"({"n":"a","s":"Completed"})");
  EXPECT_EQ(found(kJobs, "sort_by(@, &name)[-1].name"), R"("c")");
  EXPECT_EQ(found(kJobs, "[].tags.\"keep\""), R"(["yes"])");
}

TEST(JMESPath, WhatIsMissingIsNull) {
  EXPECT_EQ(found(R"({"a":1})", "b"), "null");
  EXPECT_EQ(found(R"({"a":1})", "a.b.c"), "null");
  EXPECT_EQ(found("[1]", "[7]"), "null");
  EXPECT_EQ(found("[1]", "[-9223372036854775808]"), "null");
}

TEST(JMESPath, AMultiSelectKeepsTheOrderInWhichItIsWritten) {
  EXPECT_EQ(found(R"({"a":1,"b":2})", "{z: a, y: b}"), R"({"z":1,"y":2})");
}

TEST(JMESPath, StringsHaveAnOrderAsInAz) {
  EXPECT_EQ(found(R"([{"at":"2026-01-02"},{"at":"2025-12-31"}])", "[?at > '2026-01-01'].at"),
            R"(["2026-01-02"])");
  EXPECT_EQ(found("{}", "'a' < `1`"), "null");
}

TEST(JMESPath, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(found("{}", "a."),
            "error: syntax error at character 3: behind '.' comes a name, '*', '[' or '{', not the "
            "end of the expression");
  EXPECT_EQ(found("{}", "ä.b"), "error: syntax error at character 1: 'ä' means nothing here");
  EXPECT_EQ(found("{}", "'ä' = b"),
            "error: syntax error at character 5: '=' means nothing here; to compare, write '=='");
  EXPECT_EQ(
      found("{}", "[?a=='b'"),
      "error: syntax error at character 9: ']' is needed here, not the end of the expression");
  EXPECT_EQ(found("{}", "lenght(@)"),
            "error: unknown-function error at character 1: there is no function 'lenght'; did you "
            "mean 'length'?");
  EXPECT_EQ(found("{}", "a || join(@)"),
            "error: invalid-arity error at character 6: join() takes 2 arguments, not 1");
  EXPECT_EQ(found("[1]", "join('-', @)"),
            "error: invalid-type error at character 1: argument 2 of join() must be a list of "
            "strings, but is array [1]");
  EXPECT_EQ(found("[1]", "[::0]"),
            "error: invalid-value error at character 1: a slice cannot have the step 0");
  EXPECT_FALSE(compile("   "));
}

TEST(JMESPath, SlicesOfAnyBoundsStayInTheList) {
  EXPECT_EQ(found("[1,2,3]", "[-9223372036854775807:9223372036854775807:2]"), "[1,3]");
  EXPECT_EQ(found("[1,2,3]", "[::-9223372036854775808]"), "[3]");
  EXPECT_EQ(found("[]", "[::-1]"), "[]");
}

TEST(JMESPath, DepthAndSizeHaveLimits) {
  EXPECT_FALSE(compile(std::string(100'000, '(')));
  EXPECT_FALSE(compile(std::string(100'000, '!')));
  std::string chain = "a";
  for (int i = 0; i < 100'000; ++i) chain += ".a";
  EXPECT_FALSE(compile(chain));
  std::string doubling = "@";
  for (int i = 0; i < 40; ++i) doubling += " | [@, @]";
  EXPECT_NE(found("1", doubling).find("the answer becomes too large"), std::string::npos);
}

}  // namespace
}  // namespace berth::lang::jmespath
