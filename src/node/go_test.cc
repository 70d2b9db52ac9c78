// SPDX-License-Identifier: Apache-2.0
// An attempt whose peers must be ready before it starts.
#include "node/agent_fixture.h"
#include "node/ports.h"

namespace berth::node {
namespace {

using wire::node::Go;
using wire::node::Prepared;
using wire::node::Stop;

class GoTest : public AgentTest {
 protected:
  GoTest() {
    launch.waits_for_go = true;
    launch.environment = {{"MINE", "1"}};
  }

  Prepared wait_until_prepared() {
    EXPECT_TRUE(until([&] { return !server->heard<Prepared>().empty(); })) << agent_log();
    return server->heard<Prepared>().empty() ? Prepared{} : server->heard<Prepared>().back();
  }

  bool is_running() {
    for (const Advanced& advanced : server->heard<Advanced>()) {
      if (advanced.phase != Phase::Preparing) return true;
    }
    return false;
  }

  void say_go() {
    server->say(Go{.attempt = launch.attempt, .environment = {{"MASTER_ADDR", "head"}}});
  }
};

TEST_F(GoTest, StartsWhenToldAndKnowsWhatItWasTold) {
  connect();
  send_launch("echo $MINE $MASTER_ADDR");
  const Prepared prepared = wait_until_prepared();
  EXPECT_EQ(prepared.attempt, launch.attempt);
  EXPECT_EQ(prepared.address, "127.0.0.1");
  EXPECT_GT(prepared.port, 0);
  EXPECT_FALSE(HeldPorts::take("127.0.0.1", 1, prepared.port)) << "it is held";
  EXPECT_FALSE(is_running());

  say_go();
  say_go();

  EXPECT_EQ(wait_for_end().outcome.exit_code, 0);
  EXPECT_EQ(log(), "1 head\n");
  EXPECT_TRUE(HeldPorts::take("127.0.0.1", 1, prepared.port));
}

TEST_F(GoTest, PreparedIsSaidAgainToANewServer) {
  connect();
  send_launch("echo $MASTER_ADDR");
  const int port = wait_until_prepared().port;

  replace_server();

  ASSERT_TRUE(until([&] { return !server->heard<Hello>().empty(); }));
  EXPECT_EQ(wait_until_prepared().port, port);
  server->say(launch);
  say_go();
  EXPECT_EQ(wait_for_end().outcome.exit_code, 0);
  EXPECT_EQ(log(), "head\n");
}

TEST_F(GoTest, ANewAgentGoesOnWaitingAtTheSamePort) {
  connect();
  send_launch("echo $MINE $MASTER_ADDR");
  const int port = wait_until_prepared().port;
  kill_agent();
  replace_server();

  connect();
  ASSERT_EQ(server->heard<Hello>().front().attempts.size(), 1u);
  EXPECT_EQ(server->heard<Hello>().front().attempts[0].phase, Phase::Preparing);
  server->say(launch);

  EXPECT_EQ(wait_until_prepared().port, port);
  EXPECT_FALSE(is_running());
  say_go();
  EXPECT_EQ(wait_for_end().outcome.exit_code, 0);
  EXPECT_EQ(log(), "1 head\n");
}

TEST_F(GoTest, AGoThatComesBeforeANewAgentIsReadyIsKept) {
  connect();
  send_launch("echo $MASTER_ADDR");
  wait_until_prepared();
  kill_agent();
  replace_server();

  connect();
  server->say(launch);
  say_go();

  EXPECT_EQ(wait_for_end().outcome.exit_code, 0);
  EXPECT_EQ(log(), "head\n");
}

TEST_F(GoTest, AStopEndsTheWaitAndFreesThePort) {
  connect();
  send_launch("echo never");
  const int port = wait_until_prepared().port;

  server->say(Stop{launch.attempt});

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Stopped);
  EXPECT_EQ(log(), "");
  EXPECT_TRUE(HeldPorts::take("127.0.0.1", 1, port));
}

TEST_F(GoTest, ALogThatIsDeliveredIsNotStreamed) {
  launch.waits_for_go = false;
  launch.ships_log = false;
  launch.deliveries = {{.source = "user_logs/std_log.txt",
                        .container_url = server->container_url(),
                        .prefix = "user_logs/std_log_process_01.txt",
                        .is_folder = false,
                        .what = "log"}};

  const Ended ended = run("echo hi");

  EXPECT_EQ(ended.log_size, 0u);
  EXPECT_TRUE(ended.delivery_errors.empty());
  EXPECT_TRUE(server->heard<wire::node::LogChunk>().empty());
  EXPECT_EQ(server->blobs["user_logs/std_log_process_01.txt"], "hi\n");
}

TEST_F(GoTest, WhatWasRestoredAndNotTouchedStaysAsOthersLeaveIt) {
  launch.waits_for_go = false;
  server->blobs = {{"out/old", "old"}, {"out/mine", "1"}};
  launch.fetches = {{.url = server->container_url(),
                     .destination = "wd/outputs",
                     .is_folder = true,
                     .prefix = "out/",
                     .what = "outputs"}};
  launch.deliveries = {{.source = "wd/outputs",
                        .container_url = server->container_url(),
                        .prefix = "out/",
                        .only_changed = true,
                        .what = "outputs"}};
  connect();
  send_launch(
      "echo up; until test -e go; do sleep 0.01; done; echo 2 > outputs/mine;"
      " echo 3 > outputs/new; touch -d 2001-01-01 outputs/new");
  ASSERT_TRUE(until([&] { return log() == "up\n"; }));
  server->blobs.clear();

  touch("go");

  wait_for_end();
  EXPECT_EQ(server->blobs,
            (std::map<std::string, std::string>{{"out/mine", "2\n"}, {"out/new", "3\n"}}));
}

}  // namespace
}  // namespace berth::node
