// SPDX-License-Identifier: Apache-2.0
// What becomes of work when the lease of its node lapses. Nothing here depends on how soon.
#include "node/agent_fixture.h"
#include "node/shim/lease.h"

namespace berth::node {
namespace {

using wire::node::Heartbeat;
using wire::node::LeaseNoted;
using wire::node::LeaseRenewed;
using wire::node::Welcome;

/// The short one is for what must happen when it lapses. The other is so long that a busy machine
/// does not make it lapse where it is renewed.
constexpr Duration kLease = 1500ms;
constexpr Duration kLongLease = 6s;
constexpr const char* kWaits = "echo begun; until test -e go; do sleep 0.01; done; exit 4";

class AgentLeaseTest : public AgentTest {
 protected:
  void begin(Duration lease) {
    server->lease = lease;
    connect();
    send_launch(kWaits);
    ASSERT_TRUE(until([&] { return log() == "begun\n"; })) << agent_log();
  }

  /// As many answers to heartbeats as that.
  bool renewed(std::size_t times) {
    const std::size_t before = server->heard<Heartbeat>().size();
    return until([&] { return server->heard<Heartbeat>().size() >= before + times; });
  }
};

TEST_F(AgentLeaseTest, ANodeWithoutALeaseSendsNoHeartbeats) {
  run("true");

  EXPECT_TRUE(server->heard<Heartbeat>().empty());
  EXPECT_NE(::access((options.work_root + "/lease").c_str(), F_OK), 0);
}

TEST_F(AgentLeaseTest, WorkGoesOnForAsLongAsTheLeaseIsRenewed) {
  begin(kLongLease);
  const Duration first_deadline = since_boot() + kLongLease;

  ASSERT_TRUE(renewed(3));
  ASSERT_TRUE(until([&] { return since_boot() > first_deadline; }));
  touch("go");

  EXPECT_EQ(wait_for_end().outcome.exit_code, 4);
}

TEST_F(AgentLeaseTest, AServerThatFallsSilentCostsTheWork) {
  begin(kLease);

  server->is_renewing = false;
  const Ended ended = wait_for_end();

  EXPECT_EQ(ended.outcome.ending, Ending::Lost);
  EXPECT_EQ(ended.outcome.message, kLeaseLapsed);
  EXPECT_TRUE(is_work_gone());
  EXPECT_TRUE(until([&] { return server->heard<Hello>().size() >= 2; }))
      << "it did not ask what is still wanted";
}

TEST_F(AgentLeaseTest, AServerThatDiesCostsTheWorkThoughNobodyIsThereToSay) {
  begin(kLease);

  server.reset();

  EXPECT_TRUE(until([&] { return is_work_gone(); }));
}

TEST_F(AgentLeaseTest, AnAgentThatHangsCannotKeepItsWorkRunning) {
  begin(kLease);

  ASSERT_EQ(::kill(agent, SIGSTOP), 0);
  EXPECT_TRUE(until([&] { return is_work_gone(); }));
  ASSERT_EQ(::kill(agent, SIGCONT), 0);

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Lost);
}

TEST_F(AgentLeaseTest, AnAgentThatIsKilledCannotKeepItsWorkRunning) {
  begin(kLease);

  kill_agent();

  EXPECT_TRUE(until([&] { return is_work_gone(); }));
}

TEST_F(AgentLeaseTest, WhatHasNotBegunWhenItLapsesDoesNotBegin) {
  server->lease = kLease;
  server->is_mute = true;
  launch.fetches = {{.url = server->container_url(), .destination = "wd/x", .what = "code"}};
  connect();
  send_launch("echo begun");
  ASSERT_TRUE(until([&] { return server->requests > 0; }));

  server->is_renewing = false;
  const Ended ended = wait_for_end();

  EXPECT_EQ(ended.outcome.ending, Ending::Lost);
  EXPECT_EQ(ended.outcome.message, kLeaseLapsed);
  EXPECT_EQ(log(), "");
}

TEST_F(AgentLeaseTest, AServerThatStopsInGoodOrderSuspendsTheLease) {
  begin(kLongLease);
  server->is_renewing = false;
  const std::size_t beats = server->heard<Heartbeat>().size();
  ASSERT_TRUE(until([&] { return server->heard<Heartbeat>().size() > beats; }));
  server->say(LeaseRenewed{server->heard<Heartbeat>().back().number, std::nullopt});
  ASSERT_TRUE(until([&] { return server->heard<Heartbeat>().size() > beats + 1; }));
  replace_server();
  const Duration deadline = since_boot() + kLongLease + 1s;
  ASSERT_TRUE(until([&] { return since_boot() > deadline; }));

  connect();
  server->say(launch);
  touch("go");

  EXPECT_EQ(wait_for_end().outcome.exit_code, 4);
}

TEST_F(AgentLeaseTest, ALeaseThatItDidNotAskForIsAcknowledgedWhenSupervisorsCanReadIt) {
  begin(kLongLease);
  server->is_renewing = false;

  server->say(LeaseRenewed{0, 1h});
  ASSERT_TRUE(until([&] { return !server->heard<LeaseNoted>().empty(); })) << agent_log();
  EXPECT_EQ(server->heard<LeaseNoted>().front().lease, Duration(1h));
  EXPECT_FALSE(LeaseWatch(paths().directory).has_lapsed(since_boot() + 50min));
  const Duration deadline = since_boot() + kLongLease + 1s;
  ASSERT_TRUE(until([&] { return since_boot() > deadline; }));
  touch("go");

  EXPECT_EQ(wait_for_end().outcome.exit_code, 4);
}

TEST_F(AgentLeaseTest, ANodeWhoseLeaseLapsedTakesWorkAgainOnceItIsGrantedAnew) {
  begin(kLease);
  server->is_renewing = false;
  ASSERT_EQ(wait_for_end().outcome.ending, Ending::Lost);
  server->is_renewing = true;
  ASSERT_TRUE(renewed(2));

  launch.attempt.attempt = 2;
  send_launch("exit 7");

  ASSERT_TRUE(until([&] { return server->heard<Ended>().back().attempt.attempt == 2; }));
  EXPECT_EQ(server->heard<Ended>().back().outcome.exit_code, 7) << agent_log();
}

}  // namespace
}  // namespace berth::node
