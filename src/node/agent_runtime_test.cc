// SPDX-License-Identifier: Apache-2.0
// What an agent does with a runtime that takes time, fails, or is told to stop.
#include "node/agent_fixture.h"
#include "node/runtime/fake_runtime.h"

namespace berth::node {
namespace {

class AgentRuntimeTest : public AgentTest {
 protected:
  AgentRuntimeTest() {
    EXPECT_TRUE(io::make_directories(directory / "runtime"));
    runtime.set_root(directory / "runtime");
    options.shims.runtime_of = FakeRuntime::of;
  }

  /// It is being prepared and will be until the runtime is told to be quick.
  void begin_slowly() {
    runtime.be_slow();
    connect();
    send_launch("echo hi");
    ASSERT_TRUE(until([&] { return log() == "building\n"; })) << agent_log();
  }

  bool is_directory_gone() {
    return until([&] { return ::access(paths().directory.c_str(), F_OK) != 0; });
  }

  FakeRuntime& runtime = FakeRuntime::shared();
};

TEST_F(AgentRuntimeTest, ACommandRunsInItsRuntimeOfWhichNothingIsLeft) {
  connect();
  send_launch("until test -e go; do sleep 0.01; done; exit 3");
  ASSERT_TRUE(until([&] { return runtime.starts(paths()) == 1; })) << agent_log();
  touch("go");

  EXPECT_EQ(wait_for_end().outcome.exit_code, 3);
  EXPECT_FALSE(runtime.has_instance(paths()));
}

TEST_F(AgentRuntimeTest, EveryProcessOfANodeRunsInIt) {
  launch.processes = {{{{"PART", "a"}}, "user_logs/a.txt"}, {{{"PART", "b"}}, "user_logs/b.txt"}};
  connect();
  send_launch("until test -e go; do sleep 0.01; done");

  EXPECT_TRUE(until([&] { return runtime.starts(paths()) == 2; })) << agent_log();
  touch("go");
  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Exited);
}

TEST_F(AgentRuntimeTest, WhatPreparingSaysIsTheBeginningOfTheLogAndSeenAtOnce) {
  begin_slowly();
  ASSERT_TRUE(until([&] { return !server->heard<Advanced>().empty(); }));
  EXPECT_EQ(server->heard<Advanced>().back().phase, Phase::Preparing);

  runtime.be_quick();

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Exited);
  EXPECT_EQ(log(), "building\nhi\n");
}

TEST_F(AgentRuntimeTest, WhatCannotBePreparedIsTheEnd) {
  runtime.fail_with("no such image 'x'");

  const Ended ended = run("echo hi");

  EXPECT_EQ(ended.outcome.ending, Ending::NotStarted);
  EXPECT_EQ(ended.outcome.message, "no such image 'x'");
  EXPECT_EQ(log(), "building\n");
}

TEST_F(AgentRuntimeTest, AStopEndsPreparing) {
  begin_slowly();

  server->say(wire::node::Stop{launch.attempt});

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Stopped);
  server->say(wire::node::Forget{launch.attempt});
  EXPECT_TRUE(is_directory_gone());
  EXPECT_FALSE(runtime.has_instance(paths()));
}

TEST_F(AgentRuntimeTest, ALaunchThatIsRepeatedMeanwhileChangesNothing) {
  begin_slowly();
  server->say(launch);
  server->say(launch);

  runtime.be_quick();

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Exited);
  EXPECT_EQ(log(), "building\nhi\n");
}

TEST_F(AgentRuntimeTest, TheNextAgentPreparesWhatAKilledOneWasPreparing) {
  begin_slowly();
  kill_agent();
  runtime.be_quick();
  start_agent();
  ASSERT_TRUE(until([&] { return server->heard<Hello>().size() == 2; }));

  server->say(launch);

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Exited);
  EXPECT_EQ(log(), "building\nbuilding\nhi\n");
  EXPECT_EQ(runtime.builds(), 1);
}

TEST_F(AgentRuntimeTest, AnAgentCleansUpAfterASupervisorThatWasKilled) {
  const Ended ended = run("kill -9 $PPID; while :; do sleep 0.01; done");

  EXPECT_EQ(ended.outcome.ending, Ending::Lost);
  EXPECT_FALSE(runtime.has_instance(paths()));
}

}  // namespace
}  // namespace berth::node
