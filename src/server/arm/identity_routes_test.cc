// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/application_fixture.h"

namespace berth::server {
namespace {

using namespace std::chrono_literals;

class IdentityRoutesTest : public ApplicationTest {
 protected:
  static constexpr const char* kAsk = "/msi/token?api-version=2019-08-01&resource=";
  static constexpr const char* kHere = "https%3A%2F%2Flocalhost%3A8470";

  Answer ask_identity(const std::string& secret, const std::string& resource = kHere) {
    io::RequestHead head = head_of("GET", kAsk + resource, "");
    if (!secret.empty()) head.headers.emplace_back("X-IDENTITY-HEADER", secret);
    std::optional<Answer> answer;
    perform({.head = head}, [&](const io::Reply& reply) {
      answer = Answer{reply.status, reply.headers, reply.body, {}};
    });
    settle();
    return answer.value_or(Answer{});
  }
  std::string identity(const std::string& secret) {
    return ask_identity(secret).at("/access_token");
  }
  int status(const std::string& bearer) { return ask("GET", "W/jobs", bearer).status; }
};

TEST_F(IdentityRoutesTest, AUsersTokenIsTradedForOneThatTheServerTakes) {
  const model::UserId ana = user("ana");
  role(ana, "Reader", workspace);
  const Answer answer = ask_identity(token(ana).text);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.at("/token_type"), "Bearer");
  EXPECT_EQ(answer.at("/resource"), "https://localhost:8470");
  EXPECT_EQ(answer.header("Cache-Control"), "no-store");
  EXPECT_EQ(status(answer.at("/access_token")), 200);
  EXPECT_EQ(ask("PUT", "W/jobs/a", answer.at("/access_token"), "{}").status, 403) << "a reader's";
}

TEST_F(IdentityRoutesTest, TheSecretIsLookedAt) {
  EXPECT_EQ(ask_identity(kOwnerToken).status, 200);
  EXPECT_EQ(ask_identity("").status, 401);
  EXPECT_EQ(ask_identity("wrong").status, 401);
  EXPECT_EQ(ask("GET", std::string(kAsk) + kHere, kOwnerToken).status, 401) << "in its own header";
}

TEST_F(IdentityRoutesTest, ItDiesWithTheTokenItCameFrom) {
  const model::UserId ana = user("ana");
  role(ana, "Reader", workspace);
  const auto hers = token(ana);
  const std::string revoked = identity(hers.text);
  EXPECT_EQ(status(revoked), 200);
  clock.advance(1ms);
  const auto again = plane.access.make_token(hers.token);  // The same id with another secret.
  ASSERT_TRUE(again);
  settle();
  EXPECT_EQ(status(revoked), 401);
  const std::string next = identity(again->text);
  EXPECT_EQ(status(next), 200);
  EXPECT_TRUE(plane.access.revoke_token(hers.token.id));
  settle();
  EXPECT_EQ(status(next), 401);
}

TEST_F(IdentityRoutesTest, ItLivesAnHourAndNoLongerThanItsToken) {
  const model::UserId ana = user("ana");
  role(ana, "Reader", workspace);
  const std::string owners = identity(kOwnerToken);
  const std::string shorter = identity(token(ana, {}, 10min).text);
  clock.advance(10min);
  EXPECT_EQ(status(shorter), 401);
  EXPECT_EQ(status(owners), 200);
  clock.advance(50min);
  EXPECT_EQ(status(owners), 401);
}

TEST_F(IdentityRoutesTest, ItCannotBeTradedForMoreOfIt) {
  EXPECT_EQ(ask_identity(identity(kOwnerToken)).status, 401);
}

TEST_F(IdentityRoutesTest, ItIsGoodWhereItsTokenIs) {
  const model::UserId ana = user("ana");
  role(ana, "Reader", {});
  const model::WorkspaceId other = plane.workspaces.put({.name = "other"})->id;
  settle();
  EXPECT_EQ(status(identity(token(ana, other).text)), 403);
  EXPECT_EQ(status(identity(token(ana, workspace).text)), 200);
}

TEST_F(IdentityRoutesTest, AnotherOwnersTokenIsAnotherOwner) {
  const std::string before = identity(kOwnerToken);
  Application renewed{{.loop = loop, .services = services, .nodes = hub, .owner_token = "new"}};
  const io::Admission admission = renewed.admit(head_of("GET", "W/jobs", before));
  ASSERT_TRUE(std::holds_alternative<io::Refuse>(admission));
}

TEST_F(IdentityRoutesTest, ItIsForThisServerAndForTheNamesClientsInsistOn) {
  for (const char* resource :
       {"https://localhost:8470/", "https://127.0.0.1:8470", "https://management.azure.com/",
        "https://management.core.windows.net", "https://ml.azure.0.1:8470",
        "https://ml.azure.com"}) {
    EXPECT_EQ(ask_identity(kOwnerToken, percent_encode(resource)).status, 200) << resource;
  }
  for (const char* resource : {"https://vault.azure.net", "https://localhost:1", "http://x", "x"}) {
    const Answer answer = ask_identity(kOwnerToken, percent_encode(resource));
    EXPECT_EQ(answer.status, 400) << resource;
    EXPECT_EQ(answer.at("/error/target"), "resource");
  }
  EXPECT_EQ(ask_identity(kOwnerToken, "").status, 400);
}

}  // namespace
}  // namespace berth::server
