// SPDX-License-Identifier: Apache-2.0
#include "server/door/call.h"

#include "server/route_fixture.h"

namespace berth::server {
namespace {

TEST(OwnHosts, AreLoopbackAndTheListenersNamesWithOurPort) {
  const ServerFacts facts{.port = 8470, .host_names = {"Box"}};
  for (const char* host :
       {"localhost:8470", "LOCALHOST:8470", "127.0.0.1:8470", "[::1]:8470", "box:8470"}) {
    EXPECT_TRUE(is_own_host(host, facts)) << host;
  }
  for (const char* host :
       {"", "localhost", "localhost:80", "evil.example:8470", "127.0.0.1:84700", ":8470",
        "localhost.evil.example:8470", "::1:8470", "evil@127.0.0.1:8470", "127.0.0.2:8470"}) {
    EXPECT_FALSE(is_own_host(host, facts)) << host;
  }
}

class CallTest : public RouteTest {
 protected:
  std::string base_url(const char* host, bool is_tls) {
    request.head.headers = {{"Host", host}};
    request.head.is_tls = is_tls;
    return Call{.request = request, .services = services, .respond = nowhere}.base_url();
  }
  io::Request request;
  const Respond nowhere = Respond([](auto) {});
};

TEST_F(CallTest, TheBaseUrlIsHowTheClientReachedUs) {
  EXPECT_EQ(base_url("localhost:8470", true), "https://localhost:8470");
  EXPECT_EQ(base_url("[::1]:8470", false), "http://[::1]:8470");
}

TEST_F(CallTest, TheBaseUrlNeverNamesAStranger) {
  EXPECT_EQ(base_url("evil.example:8470", true), "https://127.0.0.1:8470");
  EXPECT_EQ(base_url("", false), "http://127.0.0.1:8470");
}

TEST_F(CallTest, QueryNamesIgnoreCase) {
  const Call call{.request = request,
                  .services = services,
                  .respond = nowhere,
                  .query = {{"ListViewType", "All"}, {"listviewtype", "second"}}};

  EXPECT_EQ(call.query_value("listViewType"), "All");
  EXPECT_EQ(call.query_value("other"), "");
}

TEST_F(CallTest, BodiesAreJsonObjects) {
  const auto body = [&](const char* text, bool may_be_empty) {
    request.body = text;
    return json_body({.request = request, .services = services, .respond = nowhere}, may_be_empty)
        .has_value();
  };
  EXPECT_TRUE(body("{}", false));
  EXPECT_TRUE(body(" \n", true));
  EXPECT_FALSE(body("", false));
  EXPECT_FALSE(body("[]", false));
  EXPECT_FALSE(body(R"({"a": [{"b": 1e999}]})", false));
  EXPECT_FALSE(body("\"x\"", true));
  EXPECT_FALSE(body("{", true));
}

TEST_F(CallTest, LaterIsNoAnswer) {
  EXPECT_TRUE(is_later(later()));
  EXPECT_FALSE(is_later(json_reply(200, nullptr)));
}

}  // namespace
}  // namespace berth::server
