// SPDX-License-Identifier: Apache-2.0
// An agent that shares nothing with its server but a network.
#include "io/tls.h"
#include "node/agent_fixture.h"
#include "node/remote.h"

namespace berth::node {
namespace {

class AgentRemoteTest : public AgentTest {
 protected:
  AgentRemoteTest() {
    const WallTime now = SystemClock().now().wall;
    const auto authority = io::make_authority("test", now);
    const auto identity = io::make_server_certificate(*authority, {"127.0.0.1"}, now);
    server.reset();
    server = std::make_unique<FakeServer>(*loop, directory.path(), *io::ServerTls::make(*identity));
    EXPECT_TRUE(io::write_file(directory / "ca.pem", authority->certificate));
    options.home = directory / "nowhere";
    options.token_file = directory / "nowhere/token";
    options.remote = RemoteServer{.address = {"127.0.0.1", server->port()},
                                  .token = "token",
                                  .authority = authority->certificate,
                                  .authority_file = directory / "ca.pem"};
  }

  void begin(const std::string& command) {
    connect();
    send_launch("echo begun; " + command);
    ASSERT_TRUE(until([&] { return log() == "begun\n"; })) << agent_log();
  }

  pid_t command_pid() {
    EXPECT_TRUE(wait_for_file("pid"));
    return std::stoi(*io::read_file(paths().directory + "/wd/pid"));
  }
};

constexpr const char* kLoop = "while :; do sleep 0.01; done";

TEST_F(AgentRemoteTest, FetchesAndDeliversOverTls) {
  server->blobs["code/in.txt"] = "data\n";
  launch.fetches = {{.url = server->container_url(),
                     .destination = "wd",
                     .is_folder = true,
                     .prefix = "code/",
                     .what = "code"}};
  launch.directories = {"wd/outputs"};
  launch.deliveries = {{.source = "wd/outputs",
                        .container_url = server->container_url(),
                        .prefix = "out/",
                        .what = "outputs"}};

  const Ended ended = run("cat in.txt; cp in.txt outputs/o");

  EXPECT_EQ(ended.outcome.exit_code, 0) << ended.outcome.message;
  EXPECT_TRUE(ended.delivery_errors.empty());
  EXPECT_EQ(log(), "data\n");
  EXPECT_EQ(server->blobs["out/o"], "data\n");
}

TEST_F(AgentRemoteTest, ATokenIsNotShownToAStranger) {
  options.remote->authority = io::make_authority("other", SystemClock().now().wall)->certificate;
  start_agent();

  EXPECT_TRUE(until([&] { return agent_log().find("certificate") != std::string::npos; }))
      << agent_log();
  EXPECT_TRUE(server->heard<Hello>().empty());
  EXPECT_EQ(server->requests, 0);
}

TEST_F(AgentRemoteTest, SaysWhereItIsAndWhenItWillBeTakenBack) {
  options.address = "10.1.2.3";
  options.ends_at = WallTime(1'800'000'000'000ms);
  connect();

  EXPECT_EQ(server->heard<Hello>().front().address, "10.1.2.3");
  EXPECT_EQ(server->heard<Hello>().front().ends_at, options.ends_at);
}

TEST_F(AgentRemoteTest, SigtermStopsTheJobDeliversWhatItSavedAndEndsTheAgent) {
  options.shims.grace = 20s;
  launch.directories = {"wd/outputs"};
  launch.deliveries = {{.source = "wd/outputs",
                        .container_url = server->container_url(),
                        .prefix = "out/",
                        .what = "outputs"}};
  begin(std::string("trap 'echo saved > outputs/o; exit 3' TERM; ") + kLoop);

  ASSERT_EQ(::kill(agent, SIGTERM), 0);
  const Ended ended = wait_for_end();
  server->say(wire::node::Forget{launch.attempt});

  EXPECT_EQ(ended.outcome.ending, Ending::Lost);
  EXPECT_EQ(ended.outcome.message, "its node was taken back by its site");
  EXPECT_EQ(server->blobs["out/o"], "saved\n");
  EXPECT_EQ(wait_for_exit(), 0);
}

TEST_F(AgentRemoteTest, AJobThatWasToldToEndIsLostWhateverItReturns) {
  options.shims.grace = 20s;
  begin("trap 'exit 0' TERM; while :; do sleep 0.01; done");

  ASSERT_EQ(::kill(agent, SIGTERM), 0);

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Lost);
}

TEST_F(AgentRemoteTest, AJobThatTheSameSigtermHitFirstIsLostAndNotFailed) {
  begin(std::string("echo $$ > pid.new; mv pid.new pid; ") + kLoop);

  ASSERT_EQ(::kill(command_pid(), SIGTERM), 0);
  ASSERT_TRUE(until([&] { return read_record<ExitRecord>(paths().exit).has_value(); }));
  ASSERT_EQ(::kill(agent, SIGTERM), 0);

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Lost);
}

TEST_F(AgentRemoteTest, AJobThatASigtermOfItsOwnEndsHasFailed) {
  begin(std::string("echo $$ > pid.new; mv pid.new pid; ") + kLoop);

  ASSERT_EQ(::kill(command_pid(), SIGTERM), 0);

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Signaled);
}

TEST_F(AgentRemoteTest, SigtermOfAnIdleAgentEndsIt) {
  connect();

  ASSERT_EQ(::kill(agent, SIGTERM), 0);

  EXPECT_EQ(wait_for_exit(), 0);
}

TEST_F(AgentRemoteTest, AnAgentThatIsEndingTakesNoMoreWork) {
  options.shims.grace = 20s;
  begin(
      "trap 'until test -e go; do sleep 0.01; done; exit 3' TERM; touch ready; while :; do "
      "sleep 0.01; done");
  ASSERT_TRUE(wait_for_file("ready"));
  ASSERT_EQ(::kill(agent, SIGTERM), 0);
  ASSERT_TRUE(until([&] { return !server->heard<wire::node::Leaving>().empty(); }));
  EXPECT_TRUE(server->heard<Ended>().empty()) << "it must say first that it leaves";
  const AttemptRef first = launch.attempt;

  launch.attempt.attempt = 2;
  send_launch("echo never");

  EXPECT_EQ(wait_for_end().attempt.attempt, 2);
  EXPECT_EQ(server->heard<Ended>().front().outcome.ending, Ending::Lost);
  launch.attempt = first;
  touch("go");
  EXPECT_TRUE(until([&] { return is_work_gone(); }));
}

TEST_F(AgentRemoteTest, WhatNobodyWillTakeDoesNotKeepAnAgentThatIsEnding) {
  begin(kLoop);
  server.reset();

  ASSERT_EQ(::kill(agent, SIGTERM), 0);

  EXPECT_EQ(wait_for_exit(), 0);
  EXPECT_TRUE(is_work_gone());
}

TEST_F(AgentRemoteTest, WithoutAServerAndALeaseItEndsThoughResultsAreUnreported) {
  options.lonely_after = 100ms;
  server->lease = 1500ms;
  begin(kLoop);

  server.reset();

  EXPECT_EQ(wait_for_exit(), 0);
  EXPECT_TRUE(is_work_gone());
}

/// As `berth node --server` runs: with a directory of its own, which goes with it.
class RemoteNodeTest : public AgentRemoteTest {
 protected:
  void start_node() {
    const RemoteArguments arguments{.id = {"n1"},
                                    .server = fmt::format("https://127.0.0.1:{}", server->port()),
                                    .authority_file = directory / "ca.pem",
                                    .token_file = directory / "token",
                                    .work_directory = base};
    agent = ::fork();
    if (agent == 0) {
      log::to_file(directory / "agent.log", log::Level::Debug);
      ::_exit(run_remote_node(arguments) ? 0 : 1);
    }
    connect();
    options.work_root = server->heard<Hello>().front().work_root;
  }

  void run_and_forget(const std::string& command) {
    send_launch(command);
    wait_for_end();
    server->say(wire::node::Forget{launch.attempt});
  }

  const std::string base = directory / "base";
};

TEST_F(RemoteNodeTest, LeavesNothingInItsWorkDirectory) {
  start_node();
  const Hello hello = server->heard<Hello>().front();
  EXPECT_TRUE(hello.work_root.starts_with(base + "/berth-node-")) << hello.work_root;
  EXPECT_EQ(hello.address, "127.0.0.1");
  run_and_forget("echo x > big; chmod 500 .");

  server->say(wire::node::Leave{"idle"});

  EXPECT_EQ(wait_for_exit(), 0) << agent_log();
  EXPECT_TRUE(io::list_tree(base)->empty());
}

TEST_F(RemoteNodeTest, TidiesUpHoweverOftenItIsToldToEnd) {
  start_node();
  run_and_forget("for i in $(seq 200); do echo $i > file$i; done");

  server->say(wire::node::Leave{"idle"});
  ASSERT_TRUE(until([&] { return agent_log().find("ending") != std::string::npos; }));
  int status = 0;
  while (::waitpid(agent, &status, WNOHANG) == 0) ::kill(agent, SIGTERM);
  agent = 0;

  const auto left = io::list_tree(base);
  EXPECT_TRUE(left->empty()) << left->front().path << ", status " << status << "\n" << agent_log();
}

}  // namespace
}  // namespace berth::node
