// SPDX-License-Identifier: Apache-2.0
#include "cli/client.h"

#include <gtest/gtest.h>

#include "cli/testing_server.h"

namespace berth::cli {
namespace {

const model::Workspace kWorkspace{.name = "team"};

TEST(Client, SpeaksAsTheOwnerBelowItsWorkspace) {
  std::string path;
  std::string authorization;
  TestingServer server([&](const io::Request& request) {
    path = request.head.path;
    authorization = io::header(request.head.headers, "Authorization");
    return io::Reply{.body = R"({"name":"x"})"};
  });
  const Console console;
  Client client(server.locate(), kWorkspace, console);

  const auto got = client.get(client.workspace_path("/jobs/x"));

  ASSERT_TRUE(got);
  EXPECT_EQ(got->at("name"), "x");
  EXPECT_EQ(server.on_loop([&] { return authorization; }), "Bearer secret");
  EXPECT_TRUE(server.on_loop([&] { return path; }).ends_with("/workspaces/team/jobs/x"));
}

TEST(Client, TurnsAnErrorAnswerIntoAnError) {
  TestingServer server([](const io::Request&) { return testing_error(404, "ResourceNotFound"); });
  const Console console;
  Client client(server.locate(), kWorkspace, console);

  const auto got = client.get("/x");

  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::NotFound);
  EXPECT_EQ(got.error().message, "the message");
}

TEST(Client, FollowsPagesUpToTheLimit) {
  TestingServer server([](const io::Request& request) {
    const std::string at = request.head.query.empty() ? "0" : request.head.query.substr(3);
    return io::Reply{
        .body = fmt::format(R"({{"value":[{0},{0}],"nextLink":"http://elsewhere/x?at={1}"}})", at,
                            std::stoi(at) + 1)};
  });
  const Console console;
  Client client(server.locate(), kWorkspace, console);

  const auto found = client.list("/x", 5);

  ASSERT_TRUE(found);
  EXPECT_EQ(json::serialize(*found), "[0,0,1,1,2]");
}

TEST(Client, OfARemoteServerThatIsAwaySaysSoAtOnce) {
  const Console console;
  int searches = 0;
  const Locate locate = [&](bool) -> Result<Endpoint> {
    ++searches;
    return Endpoint{.base_url = "http://127.0.0.1:1", .is_ours = false};
  };
  Client client(locate, kWorkspace, console);

  const auto got = client.get("/x");

  ASSERT_FALSE(got);
  EXPECT_TRUE(got.error().message.starts_with("the Berth server does not answer"))
      << got.error().message;
  EXPECT_EQ(searches, 1);
}

TEST(Client, LooksForAServerThatWentAway) {
  TestingServer server([](const io::Request&) { return io::Reply{.body = "{}"}; });
  const Console console;
  int searches = 0;
  const Locate locate = [&](bool again) -> Result<Endpoint> {
    ++searches;
    return again ? server.endpoint() : Endpoint{.base_url = "http://127.0.0.1:1"};
  };
  Client client(locate, kWorkspace, console);

  EXPECT_TRUE(client.get("/x"));
  EXPECT_EQ(searches, 2);
}

}  // namespace
}  // namespace berth::cli
