// SPDX-License-Identifier: Apache-2.0
// Servers, agents and supervisors that die, and when an agent ends by itself.
#include "io/process/suspend_fixture.h"
#include "node/agent_fixture.h"

namespace berth::node {
namespace {

TEST_F(AgentTest, WorkGoesOnWhileTheServerIsAwayAndIsReportedToTheNext) {
  connect();
  send_launch("echo before; until test -e go; do sleep 0.01; done; echo after; touch done; exit 4");
  ASSERT_TRUE(until([&] { return log() == "before\n"; }));
  replace_server();
  touch("go");
  ASSERT_TRUE(wait_for_file("done"));

  connect();
  EXPECT_EQ(server->heard<Hello>().front().attempts.size(), 1u);
  server->say(launch);

  EXPECT_EQ(wait_for_end().outcome.exit_code, 4);
  EXPECT_EQ(log(), "before\nafter\n");
}

TEST_F(AgentTest, TheEndIsRepeatedUntilItIsForgotten) {
  run("true");
  replace_server();
  connect();
  ASSERT_EQ(server->heard<Hello>().front().attempts.size(), 1u);
  EXPECT_EQ(server->heard<Hello>().front().attempts[0].phase, Phase::Ended);

  EXPECT_EQ(wait_for_end().outcome.exit_code, 0);
}

TEST_F(AgentTest, ANewAgentTakesOverFromAKilledOne) {
  connect();
  send_launch("echo before; until test -e go; do sleep 0.01; done; echo after; exit 5");
  ASSERT_TRUE(until([&] { return log() == "before\n"; }));
  kill_agent();
  replace_server();

  connect();
  ASSERT_EQ(server->heard<Hello>().front().attempts.size(), 1u);
  EXPECT_EQ(server->heard<Hello>().front().attempts[0].phase, Phase::Running);
  server->say(launch);
  touch("go");

  EXPECT_EQ(wait_for_end().outcome.exit_code, 5);
  EXPECT_EQ(log(), "before\nafter\n");
}

TEST_F(AgentTest, AJobThatEndedWithoutAnAgentIsDeliveredToFreshAddresses) {
  launch.directories = {"wd/out"};
  launch.deliveries = {{.source = "wd/out",
                        .container_url = "http://127.0.0.1:1/gone",
                        .prefix = "out/",
                        .what = "outputs"}};
  connect();
  send_launch("until test -e go; do sleep 0.01; done; echo result > out/o; echo end");
  ASSERT_TRUE(until([&] { return read_record<ShimRecord>(paths().shim).has_value(); }));
  const auto shim = read_record<ShimRecord>(paths().shim);
  kill_agent();
  touch("go");
  ASSERT_TRUE(io::wait_for_end(shim->process, 120s));
  replace_server();

  connect();
  launch.deliveries[0].container_url = server->container_url();
  server->say(launch);

  EXPECT_EQ(wait_for_end().outcome.exit_code, 0);
  EXPECT_EQ(server->blobs["out/o"], "result\n");
  EXPECT_EQ(log(), "end\n");
}

TEST_F(AgentTest, RefusedSignaturesAreRenewedWithoutHangingUp) {
  launch.directories = {"wd/out"};
  launch.deliveries = {{.source = "wd/out",
                        .container_url = server->container_url(),
                        .prefix = "out/",
                        .what = "outputs"}};
  connect();
  server->refusals = {403};
  send_launch("echo result > out/o");
  ASSERT_TRUE(until([&] { return !server->heard<wire::node::Renew>().empty(); }));

  server->say(launch);

  EXPECT_TRUE(wait_for_end().delivery_errors.empty());
  EXPECT_EQ(server->blobs["out/o"], "result\n");
  EXPECT_EQ(server->heard<Hello>().size(), 1u);
}

/// It does not know what a Renew is.
TEST_F(AgentTest, AnOlderServerRenewsSignaturesWhenItIsDialledAgain) {
  launch.directories = {"wd/out"};
  launch.deliveries = {{.source = "wd/out",
                        .container_url = server->container_url(),
                        .prefix = "out/",
                        .what = "outputs"}};
  connect();
  server->refusals = {403};
  send_launch("echo result > out/o");
  ASSERT_TRUE(until([&] { return server->heard<Hello>().size() == 2; }));

  server->say(launch);

  EXPECT_TRUE(wait_for_end().delivery_errors.empty());
  EXPECT_EQ(server->blobs["out/o"], "result\n");
}

TEST_F(AgentTest, AnAttemptTheServerNoLongerWantsIsEndedAndDeliversNothing) {
  launch.directories = {"wd/out"};
  launch.deliveries = {{.source = "wd/out",
                        .container_url = server->container_url(),
                        .prefix = "out/",
                        .what = "outputs"}};
  connect();
  send_launch("echo stale > out/o; echo up; sleep 600");
  ASSERT_TRUE(until([&] { return log() == "up\n"; }));
  replace_server();
  connect();

  server->say(wire::node::Stop{launch.attempt});

  wait_for_end();
  EXPECT_FALSE(server->blobs.contains("out/o"));
}

TEST_F(AgentTest, AJobWhoseSupervisorIsKilledIsLostAndLeavesNothing) {
  connect();
  send_launch("echo up; setsid sleep 600 & sleep 600");
  ASSERT_TRUE(until([&] { return log() == "up\n"; }));
  const auto shim = read_record<ShimRecord>(paths().shim);
  ASSERT_TRUE(shim);

  ASSERT_EQ(::kill(shim->process.pid, SIGKILL), 0);

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Lost);
  EXPECT_TRUE(processes_marked(marker()).empty());
}

TEST_F(AgentTest, ANewAgentLeavesTheSupervisorOfAFinishedAttemptToItsNextOne) {
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    ::pause();
    ::_exit(0);
  }
  ASSERT_TRUE(io::make_directories(paths().log_directory));
  ASSERT_TRUE(write_record(paths().shim, ShimRecord{*io::identify(supervisor), {}}));
  ASSERT_TRUE(
      write_record(paths().exit, ExitRecord{{.ending = Ending::Exited, .exit_code = 3}, {}, {}}));
  ASSERT_TRUE(write_record(paths().launch, LaunchRecord{boot_id(), launch}));
  connect();

  server->say(wire::node::Stop{launch.attempt});

  EXPECT_EQ(wait_for_end().outcome.exit_code, 3);
  EXPECT_EQ(::waitpid(supervisor, nullptr, WNOHANG), 0) << "it was signalled";
  ::kill(supervisor, SIGKILL);
  ::waitpid(supervisor, nullptr, 0);
}

TEST_F(AgentTest, AJobWhoseSupervisorIsKilledBeforeItBeganIsBegunByAnother) {
  run("true");
  const auto idle = read_record<ShimRecord>(paths().shim);
  ASSERT_TRUE(idle);
  ASSERT_TRUE(io::suspend(idle->process));
  launch.attempt.job.name += "-next";
  send_launch("exit 6");
  ASSERT_TRUE(until([&] { return ::access(paths().launch.c_str(), F_OK) == 0; }));

  ASSERT_TRUE(io::send_signal(idle->process, SIGKILL));

  ASSERT_TRUE(until([&] { return server->heard<Ended>().size() == 2; })) << agent_log();
  EXPECT_EQ(server->heard<Ended>().back().outcome.exit_code, 6);
}

TEST_F(AgentTest, AnAttemptThatIsAboutToBeginIsNotTakenForOneThatNeverWill) {
  launch.command = "echo late";
  ASSERT_TRUE(io::make_directories(paths().directory + "/wd"));
  ASSERT_TRUE(io::make_directories(paths().log_directory));
  ASSERT_TRUE(write_record(paths().launch, LaunchRecord{boot_id(), launch}));
  const pid_t shim = ::fork();  // Not this process: the agent is forked from it, locks and all.
  if (shim == 0) {
    const auto lock = io::FileLock::try_lock(paths().lock);
    (void)io::write_file(directory / "locked", "");
    ::pause();
    ::_exit(0);
  }
  ASSERT_TRUE(until([&] { return ::access((directory / "locked").c_str(), F_OK) == 0; }));
  connect();
  EXPECT_EQ(server->heard<Hello>().front().attempts.at(0).phase, Phase::Running);
  server->say(launch);

  ::kill(shim, SIGKILL);  // Or it found its agent gone.
  ::waitpid(shim, nullptr, 0);

  EXPECT_EQ(wait_for_end().outcome.exit_code, 0);
  EXPECT_EQ(log(), "late\n");
}

TEST_F(AgentTest, AnAttemptWhoseDirectoryWasHalfMadeIsLaunchedAnew) {
  // So many that they are still being removed when the Launch comes.
  for (int number = 0; number < 2000; ++number) {
    ASSERT_TRUE(io::make_directories(paths().directory + "/wd/" + std::to_string(number)));
  }
  connect();
  EXPECT_TRUE(server->heard<Hello>().front().attempts.empty());

  send_launch("ls -A; exit 2");

  EXPECT_EQ(wait_for_end().outcome.exit_code, 2) << wait_for_end().outcome.message;
  EXPECT_EQ(log(), "") << "of the one before";
}

TEST_F(AgentTest, ARestartOfTheMachineMakesItLost) {
  ASSERT_TRUE(io::make_directories(paths().directory));
  ASSERT_TRUE(write_record(paths().launch, LaunchRecord{"another-boot", launch}));
  connect();
  server->say(launch);

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Lost);
}

TEST_F(AgentTest, AnAttemptThatHadNotBegunStartsOnceTheServerStillWantsIt) {
  launch.command = "echo late";
  ASSERT_TRUE(io::make_directories(paths().directory + "/wd"));
  ASSERT_TRUE(io::make_directories(paths().log_directory));
  ASSERT_TRUE(write_record(paths().launch, LaunchRecord{boot_id(), launch}));
  connect();
  EXPECT_EQ(server->heard<Hello>().front().attempts.at(0).phase, Phase::Preparing);

  server->say(launch);

  EXPECT_EQ(wait_for_end().outcome.exit_code, 0);
  EXPECT_EQ(log(), "late\n");
}

TEST_F(AgentTest, ASecretIsOnNoDiskAndTheNextAgentHearsItAgain) {
  launch.secrets = {{"HF_TOKEN", "hf_secret-value"}};
  launch.waits_for_go = true;
  connect();
  send_launch("test ${#HF_TOKEN} = 15 && echo known");
  ASSERT_TRUE(until([&] { return !server->heard<wire::node::Prepared>().empty(); }));
  const auto record = io::read_file(paths().launch);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->find("secret-value"), std::string::npos) << *record;
  kill_agent();
  replace_server();
  start_agent();
  connect();

  server->say(launch);
  ASSERT_TRUE(until([&] { return !server->heard<wire::node::Prepared>().empty(); }));
  server->say(wire::node::Go{.attempt = launch.attempt});

  EXPECT_EQ(wait_for_end().outcome, (model::Outcome{Ending::Exited, 0, 0, ""}));
  EXPECT_EQ(log(), "known\n");
  EXPECT_EQ(io::read_file(paths().launch)->find("secret-value"), std::string::npos);
}

TEST_F(AgentTest, ALargeLogArrivesWhole) {
  const Ended ended = run("head -c 9000000 /dev/zero | tr '\\0' 'x'; printf 'end\\303'");

  EXPECT_EQ(ended.log_size, 9'000'004u);
  EXPECT_EQ(log().size(), 9'000'004u);
  EXPECT_TRUE(log().ends_with("xend\xc3"));
}

TEST_F(AgentTest, ASecondAgentOfTheSameNodeEndsAtOnce) {
  connect();

  const pid_t first = std::exchange(agent, 0);
  start_agent();
  EXPECT_EQ(wait_for_exit(), 1);
  agent = first;
}

TEST_F(AgentTest, LeavesWhenToldAndNothingRuns) {
  connect();
  send_launch("until test -e go; do sleep 0.01; done");
  ASSERT_TRUE(until([&] { return ::access(paths().shim.c_str(), F_OK) == 0; }));

  server->say(wire::node::Leave{"idle"});
  touch("go");
  wait_for_end();
  server->say(wire::node::Forget{launch.attempt});

  EXPECT_EQ(wait_for_exit(), 0);
}

TEST_F(AgentTest, EndsWhenItHasNoServerAndNothingToDo) {
  options.lonely_after = 100ms;
  server->token = "another";

  start_agent();

  EXPECT_EQ(wait_for_exit(), 0);
}

TEST_F(AgentTest, EndsWithItsJobsWhenItsDirectoryVanishes) {
  connect();
  send_launch("echo up; exec sleep 600");
  ASSERT_TRUE(until([&] { return log() == "up\n"; }));
  ASSERT_EQ(::rename(options.work_root.c_str(), (directory / "moved").c_str()), 0);

  EXPECT_EQ(wait_for_exit(), 0);
  EXPECT_TRUE(until([&] { return processes_marked(marker()).empty(); }));
}

}  // namespace
}  // namespace berth::node
