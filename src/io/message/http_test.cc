// SPDX-License-Identifier: Apache-2.0
#include "io/message/http.h"

#include <gtest/gtest.h>

#include "io/message/reply_text.h"

namespace berth::io {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(Http, FindsTheFirstHeaderIgnoringCase) {
  const Headers headers = {{"Content-Type", "a"}, {"content-type", "b"}};

  EXPECT_EQ(header(headers, "CONTENT-TYPE"), "a");
  EXPECT_EQ(header(headers, "Accept"), "");
}

TEST(Http, ParsesQueries) {
  EXPECT_EQ(*parse_query(""), Pairs{});
  EXPECT_EQ(*parse_query("a=1&&b=%2F%3d&c&d=x=y&e=p+q"),
            (Pairs{{"a", "1"}, {"b", "/="}, {"c", ""}, {"d", "x=y"}, {"e", "p q"}}));
  EXPECT_FALSE(parse_query("a=%2"));
  EXPECT_FALSE(parse_query("%zz=1"));
}

TEST(Http, AFullDiskAndATroubledOneHaveTheirOwnStatus) {
  EXPECT_EQ(error_reply(Error{Code::OutOfSpace, "no room"}).status, 507);
  EXPECT_EQ(error_reply(Error{Code::Internal, "input/output error"}).status, 503);
  EXPECT_EQ(error_reply(400, "Bad", "a \"quoted\" word").body,
            R"({"error":{"code":"Bad","message":"a \"quoted\" word"}})");
}

}  // namespace
}  // namespace berth::io
