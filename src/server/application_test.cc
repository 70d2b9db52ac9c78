// SPDX-License-Identifier: Apache-2.0
#include "server/application.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/record.h"
#include "model/datastore.h"
#include "server/application_fixture.h"
#include "store/fake_store.h"

namespace berth::server {
namespace {

constexpr const char* kJob = R"({"properties":{"jobType":"Command","command":"true"}})";

class DoorTest : public ApplicationTest {
 protected:
  std::vector<model::AuditRecord> audited() {
    settle();
    std::vector<model::AuditRecord> records;
    const auto lines = rows->audit({.limit = 100'000});
    for (const model::AuditLine& line : *lines) {
      records.push_back(*record::decode_text<model::AuditRecord>(line.text));
    }
    return records;
  }
  bool is_cut(const io::RequestHead& head) {
    io::Admission admission = application.admit(head);
    const auto& guard = std::get<io::ReadBody>(admission).is_still_allowed;
    return guard && !guard();
  }
};

TEST_F(DoorTest, ForeignPagesAreRefused) {
  const auto with = [](const char* name, const char* value) {
    io::RequestHead head = head_of("GET", "W/jobs", kOwnerToken);
    std::erase_if(head.headers, [&](const auto& each) { return each.first == name; });
    head.headers.emplace_back(name, value);
    return head;
  };
  EXPECT_EQ(refusal(with("Host", "evil.example:8470")), 403);
  EXPECT_EQ(refusal(with("Host", "localhost:1")), 403);
  EXPECT_EQ(refusal(with("Origin", "http://evil.example")), 403);
  EXPECT_EQ(refusal(with("Origin", "null")), 403);
  EXPECT_EQ(refusal(with("Sec-Fetch-Site", "cross-site")), 403);
  EXPECT_EQ(refusal(with("Sec-Fetch-Site", "same-site")), 403);
  EXPECT_EQ(refusal(with("Sec-Fetch-Site", "none")), 0);
  EXPECT_EQ(refusal(with("Sec-Fetch-Site", "same-origin")), 0);
  EXPECT_EQ(refusal(with("Origin", "http://localhost:8470")), 0);
}

TEST_F(DoorTest, ATokenInTheQueryIsNotLookedAt) {
  for (const char* name : {"token", "access_token", "authorization", "sig", "code"}) {
    const std::string query = fmt::format("W/jobs?{}={}", name, kOwnerToken);
    EXPECT_EQ(refusal(head_of("GET", query, "")), 401) << name;
  }
}

TEST_F(DoorTest, GuessesAreSlowedDownAndTheVictimIsNot) {
  const std::string good = token(user("ana")).text;
  const std::string wrong = good.substr(0, good.size() - 1) + (good.back() == '0' ? "1" : "0");
  int slowed = 0;
  for (int i = 0; i < 5000; ++i) slowed += refusal(head_of("GET", "W", wrong)) == 429;

  EXPECT_GT(slowed, 2500);
  EXPECT_EQ(refusal(head_of("GET", "W", good)), 403) << "known, only without a role";
  EXPECT_EQ(refusal(head_of("GET", "W", kOwnerToken)), 0);
  EXPECT_EQ(refusal(head_of("GET", "W", "")), 401) << "no guess";
  clock.advance(std::chrono::seconds(1));
  EXPECT_EQ(refusal(head_of("GET", "W", wrong)), 401);
  EXPECT_LT(audited().size(), 200u) << "a flood does not fill the log";
}

TEST_F(DoorTest, AChangeAndItsLineAreOneBatch) {
  store::FakeStore fake;
  ControlPlane counted{fake, effects, clock, {.settings = {.local = model::local_compute(2)}}};
  ASSERT_TRUE(counted.start());
  fake.complete();
  Services on_fake{counted.ledger,
                   counted.jobs,
                   counted.computes,
                   counted.access,
                   counted.workspaces,
                   counted.deployments,
                   fake,
                   objects,
                   logs,
                   signer,
                   clock,
                   facts,
                   waiters};
  Application door({.loop = loop, .services = on_fake, .nodes = hub, .owner_token = kOwnerToken});
  int status = 0;
  perform_at(door, {.head = head_of("PUT", "W/jobs/a", kOwnerToken), .body = kJob},
             [&](const io::Reply& reply) { status = reply.status; });

  EXPECT_EQ(fake.waiting(), 1u);
  EXPECT_EQ(status, 0) << "nothing is said before the commit";
  fake.complete();
  EXPECT_EQ(status, 201);
  const std::vector<model::AuditLine> lines = *fake.audit({});
  ASSERT_EQ(lines.size(), 1u);
  const auto line = record::decode_text<model::AuditRecord>(lines[0].text).value();
  EXPECT_EQ(line.who, "owner");
  EXPECT_EQ(line.status, 201);
  EXPECT_EQ(line.target, kW + "/jobs/a");
}

TEST_F(DoorTest, RightsThatEndWhileTheBodyComesAreGone) {
  const model::UserId ana = user("ana");
  role(ana, "AzureML Data Scientist", workspace);
  const auto first = token(ana);
  const auto second = token(ana);
  const auto let_in = [&](const std::string& shown) {
    return std::get<io::ReadBody>(application.admit(head_of("PUT", "W/jobs/a", shown))).handle;
  };
  const io::Handle by_first = let_in(first.text);
  const io::Handle by_second = let_in(second.text);
  const auto status_of = [&](const io::Handle& handle, const std::string& shown) {
    int status = 0;
    handle({.head = head_of("PUT", "W/jobs/a", shown), .body = kJob},
           [&](const io::Reply& reply) { status = reply.status; });
    settle();
    return status;
  };

  ASSERT_TRUE(plane.access.revoke_token(first.token.id));
  EXPECT_EQ(status_of(by_first, first.text), 401);
  EXPECT_FALSE(plane.jobs.find(job("a")));
  EXPECT_EQ(status_of(by_second, second.text), 201);
}

TEST_F(DoorTest, ChangesAreRecordedAndReadsAreNot) {
  const model::UserId ana = user("ana");
  role(ana, "AzureML Data Scientist", workspace);
  const auto hers = token(ana);

  EXPECT_EQ(ask("GET", "W/jobs", hers.text).status, 200);
  EXPECT_EQ(ask("PUT", "W/jobs/a", hers.text, kJob).status, 201);
  EXPECT_EQ(ask("PUT", "W/jobs/b", hers.text, "{}").status, 400);
  EXPECT_EQ(ask("POST", "W/datastores/workspaceblobstore/listSecrets", hers.text).status, 200);
  EXPECT_EQ(ask("PUT", "W/computes/c?x=secret", hers.text, "{}").status, 403);

  const auto records = audited();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].who, "ana");
  EXPECT_EQ(records[0].token, hers.token.id.text);
  EXPECT_EQ(records[0].from, "127.0.0.1:40000");
  EXPECT_EQ(records[0].method, "PUT");
  EXPECT_EQ(records[0].action, "Microsoft.MachineLearningServices/workspaces/jobs/write");
  EXPECT_TRUE(records[1].action.ends_with("listSecrets/action"));
  EXPECT_EQ(records[2].status, 403);
  EXPECT_EQ(records[2].target, kW + "/computes/c");
  EXPECT_EQ(plane.jobs.find(job("a"))->created_by, "ana");
}

TEST_F(DoorTest, NoSecretIsKept) {
  const std::string made = ask("PUT", "/berth/v1/users/ana", kOwnerToken, "{}").at("/name");
  ASSERT_EQ(made, "ana");
  const Answer answer =
      ask("PUT", "/berth/v1/users/ana/tokens/0123456789abcdef", kOwnerToken, "{}");
  ASSERT_EQ(answer.status, 201);
  const std::string text = answer.at("/token");
  const std::string secret = text.substr(text.rfind('.') + 1);
  ask("GET", "W", text);
  settle();
  const auto lines = rows->audit({});
  for (const model::AuditLine& line : *lines) {
    EXPECT_EQ(line.text.find(secret), line.text.npos);
  }
  EXPECT_EQ(ask("GET", "/berth/v1/tokens", kOwnerToken).body.find(secret), std::string::npos);
  EXPECT_NE(plane.state().access.tokens.at({"0123456789abcdef"}).hash, secret);
  EXPECT_EQ(ask("GET", "/berth/v1/tokens", kOwnerToken).body.find("hash"), std::string::npos);
}

TEST_F(DoorTest, NobodySetsWhatIsNotTheirs) {
  ask("PUT", "/berth/v1/users/ana", kOwnerToken, "{}");
  EXPECT_EQ(ask("PUT", "/berth/v1/users/ana", kOwnerToken, R"({"id":"x"})").status, 400);
  EXPECT_EQ(ask("PUT", "/berth/v1/users/ana", kOwnerToken, R"({"roles":["Owner"]})").status, 400);
  EXPECT_EQ(
      ask("PUT", "/berth/v1/users/ana/tokens/0123456789abcdef", kOwnerToken, R"({"user":"owner"})")
          .status,
      400);
  EXPECT_EQ(ask("PUT", "/berth/v1/users/owner", kOwnerToken, "{}").status, 400);
  // A body that names another scope than the address does not get it.
  const model::WorkspaceId other = plane.workspaces.put({.name = "other"})->id;
  const std::string id = random_uuid();
  const Answer assigned =
      ask("PUT", "W/providers/Microsoft.Authorization/roleAssignments/" + id, kOwnerToken,
          fmt::format(R"({{"properties":{{"roleDefinitionId":"Reader","principalName":"ana",
             "scope":"/subscriptions/x","workspace":"{}"}}}})",
                      other.text));
  ASSERT_EQ(assigned.status, 201);
  EXPECT_EQ(plane.state().access.assignments.at({id}).workspace, workspace);
  // Nor can one be reached, or taken over, from another workspace.
  const std::string there = kW.substr(0, kW.rfind('/')) +
                            "/other/providers/Microsoft.Authorization/roleAssignments/" + id;
  EXPECT_EQ(ask("GET", there, kOwnerToken).status, 404);
  EXPECT_EQ(ask("DELETE", there, kOwnerToken).status, 204);
  EXPECT_EQ(ask("PUT", there, kOwnerToken,
                R"({"properties":{"roleDefinitionId":"Owner","principalName":"ana"}})")
                .status,
            409);
  EXPECT_TRUE(plane.state().access.assignments.contains({id}));
}

TEST_F(DoorTest, WhatIsUnderWayEndsWithTheRightToIt) {
  const model::UserId ana = user("ana");
  role(ana, "Reader", workspace);
  const auto hers = token(ana, {}, std::chrono::minutes(1));
  const io::RequestHead head = head_of("GET", "W/jobs", hers.text);
  io::Admission admission = application.admit(head);
  const auto guard = std::get<io::ReadBody>(admission).is_still_allowed;
  ASSERT_TRUE(guard());

  const auto& roles = plane.state().access.assignments;
  ASSERT_TRUE(plane.access.remove_role(roles.begin()->first));
  EXPECT_FALSE(guard()) << "the role is gone";
  role(ana, "Reader", workspace);
  EXPECT_TRUE(guard());
  clock.advance(std::chrono::minutes(1));
  EXPECT_FALSE(guard()) << "expired";

  const auto next = token(ana);
  io::Admission again = application.admit(head_of("GET", "W/jobs", next.text));
  const auto second = std::get<io::ReadBody>(again).is_still_allowed;
  ASSERT_TRUE(second());
  ASSERT_TRUE(plane.access.revoke_token(next.token.id));
  EXPECT_FALSE(second()) << "revoked";
  EXPECT_FALSE(is_cut(head_of("GET", "W/jobs", kOwnerToken)));
  settle();
}

TEST_F(DoorTest, ASignatureEndsWithTheTokenItWasAskedForWith) {
  const model::UserId ana = user("ana");
  role(ana, "AzureML Data Scientist", workspace);
  const auto hers = token(ana);
  const std::string query =
      ask("POST", "W/datastores/workspaceblobstore/listSecrets", hers.text).at("/sasToken");
  ASSERT_NE(query.find("skoid="), query.npos);
  const std::string container(model::kDatastores[0].container);
  const std::string blob = fmt::format("/blob/{}/{}/a?{}", workspace.text, container, query);
  EXPECT_EQ(refusal(head_of("PUT", blob, "")), 0);

  ASSERT_TRUE(plane.access.remove_role(plane.state().access.assignments.begin()->first));
  role(ana, "Reader", workspace);
  EXPECT_EQ(refusal(head_of("PUT", blob, "")), 403) << "a reader does not write";
  EXPECT_EQ(refusal(head_of("GET", blob, "")), 0);
  ASSERT_TRUE(plane.access.revoke_token(hers.token.id));
  EXPECT_EQ(refusal(head_of("GET", blob, "")), 403);
  settle();
}

TEST_F(DoorTest, ASignatureOfAnAttemptEndsWithIt) {
  const model::JobKey key = running("a");
  const std::string query = signer.sign({.workspace = workspace,
                                         .container = "azureml",
                                         .permissions = "rcwl",
                                         .expires_at = clock.now().wall + std::chrono::hours(1),
                                         .job = "a",
                                         .attempt = 1});
  const std::string blob = fmt::format("/blob/{}/azureml/a?{}", workspace.text, query);
  EXPECT_EQ(refusal(head_of("PUT", blob, "")), 0);
  std::string forged = blob;
  forged.replace(forged.find("scid=1."), 7, "scid=2.");
  EXPECT_EQ(refusal(head_of("PUT", forged, "")), 403);

  finish(key, "");
  EXPECT_EQ(refusal(head_of("PUT", blob, "")), 403);
  EXPECT_EQ(refusal(head_of("GET", blob, "")), 403);
}

TEST_F(DoorTest, AReaderSeesNamesOfVariablesAndNotTheirValues) {
  ASSERT_EQ(ask("PUT", "W/jobs/a", kOwnerToken,
                R"({"properties":{"jobType":"Command","command":"true",
                    "environmentVariables":{"KEY":"hunter2"}}})")
                .status,
            201);
  const model::UserId ana = user("ana");
  role(ana, "Reader", workspace);
  const Answer seen = ask("GET", "W/jobs/a", token(ana).text);
  EXPECT_EQ(seen.at("/properties/environmentVariables/KEY"), "(hidden)");
  EXPECT_EQ(ask("GET", "W/jobs", token(ana).text).body.find("hunter2"), std::string::npos);
  EXPECT_EQ(ask("GET", "W/jobs/a", kOwnerToken).at("/properties/environmentVariables/KEY"),
            "hunter2");
}

}  // namespace
}  // namespace berth::server
