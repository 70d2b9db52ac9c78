// SPDX-License-Identifier: Apache-2.0
// Several processes of one attempt on one node.
#include "node/agent_fixture.h"

namespace berth::node {
namespace {

class ProcessesTest : public AgentTest {
 protected:
  ProcessesTest() {
    launch.processes = {{{{"RANK", "0"}}, "user_logs/std_log.txt"},
                        {{{"RANK", "1"}}, "user_logs/std_log_process_01.txt"},
                        {{{"RANK", "2"}}, "user_logs/std_log_process_02.txt"}};
  }

  std::string log_of(int rank) {
    return io::read_file(paths().directory + "/" +
                         launch.processes[static_cast<std::size_t>(rank)].log)
        .value_or("no log");
  }
};

TEST_F(ProcessesTest, EachHasItsVariablesAndItsLog) {
  launch.environment = {{"WORLD_SIZE", "3"}};

  const Ended ended = run("echo $RANK of $WORLD_SIZE");

  EXPECT_EQ(ended.outcome.exit_code, 0);
  EXPECT_EQ(log(), "0 of 3\n");
  EXPECT_EQ(log_of(1), "1 of 3\n");
  EXPECT_EQ(log_of(2), "2 of 3\n");
}

TEST_F(ProcessesTest, OneThatIsDoneWaitsForTheOthers) {
  connect();
  send_launch(
      "[ $RANK = 0 ] && { echo done; exit; }; until test -e go; do sleep 0.01; done; echo late");
  ASSERT_TRUE(until([&] { return log() == "done\n"; }));
  EXPECT_TRUE(server->heard<Ended>().empty());

  touch("go");

  EXPECT_EQ(wait_for_end().outcome.exit_code, 0);
  EXPECT_EQ(log_of(2), "late\n");
}

TEST_F(ProcessesTest, TheFirstToFailEndsTheOthersAndSpeaksForAll) {
  const Ended ended =
      run("trap 'echo told; exit 9' TERM; touch up-$RANK; "
          "if [ $RANK = 1 ]; then until test -e up-0 -a -e up-2; do sleep 0.01; done; exit 5; fi; "
          "while true; do sleep 0.01; done");

  EXPECT_EQ(ended.outcome, (model::Outcome{Ending::Exited, 5, 0, ""}));
  EXPECT_TRUE(log().ends_with("told\n")) << log();
  EXPECT_TRUE(log_of(2).ends_with("told\n")) << log_of(2);
}

TEST_F(ProcessesTest, OneThatIsKilledByASignalCountsAsFailed) {
  const Ended ended = run("[ $RANK = 2 ] && kill -SEGV $$; sleep 600");

  EXPECT_EQ(ended.outcome.ending, Ending::Signaled);
  EXPECT_EQ(ended.outcome.signal, SIGSEGV);
}

TEST_F(ProcessesTest, AStopEndsAll) {
  connect();
  send_launch("echo up; sleep 600");
  ASSERT_TRUE(until([&] { return log() == "up\n" && log_of(2) == "up\n"; }));

  server->say(wire::node::Stop{launch.attempt});

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Stopped);
}

TEST_F(ProcessesTest, OneThatCannotBeStartedEndsThoseThatWere) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "TSan turns vfork into fork: the child has not failed yet when we look";
#endif
  launch.processes[2].log = "nowhere/log.txt";

  const Ended ended = run("sleep 600");

  EXPECT_EQ(ended.outcome.ending, Ending::NotStarted);
  EXPECT_NE(ended.outcome.message.find("log file"), std::string::npos) << ended.outcome.message;
}

TEST_F(ProcessesTest, TwoNodesOfOneMachineDoNotTakeEachOthersProcessesForTheirOwn) {
  launch.memory_limit_bytes = 1u << 30;  // With a control group of its own, where that works.
  connect();
  send_launch("echo up; sleep 600");
  ASSERT_TRUE(until([&] { return log() == "up\n"; }));

  const AttemptPaths other(directory / "elsewhere/" +
                           wire::node::attempt_directory(launch.attempt));

  EXPECT_FALSE(processes_marked(marker_of(paths())).empty());
  EXPECT_TRUE(processes_marked(marker_of(other)).empty());
  server->say(wire::node::Stop{launch.attempt});
  wait_for_end();
}

}  // namespace
}  // namespace berth::node
