// SPDX-License-Identifier: Apache-2.0
// Real shims, real processes: what becomes of a command however it behaves.
#include "node/shim/shim.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <csignal>

#include "base/text.h"
#include "io/process/cgroup.h"
#include "node/shim/shim_fixture.h"

namespace berth::node {
namespace {

TEST_F(ShimTest, ReportsTheExitCode) {
  EXPECT_EQ(run("exit 0"), (model::Outcome{Ending::Exited, 0, 0, ""}));
}

TEST_F(ShimTest, ReportsAnotherExitCode) {
  const model::Outcome outcome = run("exit 42");

  EXPECT_EQ(outcome.ending, Ending::Exited);
  EXPECT_EQ(outcome.exit_code, 42);
}

TEST_F(ShimTest, ReportsASignalNobodySent) {
  const model::Outcome outcome = run("kill -SEGV $$");

  EXPECT_EQ(outcome.ending, Ending::Signaled);
  EXPECT_EQ(outcome.signal, SIGSEGV);
}

TEST_F(ShimTest, ACommandThatDoesNotExistIsTheShells127) {
  const model::Outcome outcome = run("berth-no-such-command");

  EXPECT_EQ(outcome.ending, Ending::Exited);
  EXPECT_EQ(outcome.exit_code, 127);
  EXPECT_NE(log().find("berth-no-such-command"), std::string::npos);
}

TEST_F(ShimTest, ADirectoryThatIsMissingMeansNotStarted) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "TSan turns vfork into fork: the child has not failed yet when we look";
#endif
  launch.working_directory = "nowhere";

  const model::Outcome outcome = run("true");

  EXPECT_EQ(outcome.ending, Ending::NotStarted);
  EXPECT_NE(outcome.message.find("working directory"), std::string::npos);
}

TEST_F(ShimTest, KeepsEveryByteOfBothStreamsInOrder) {
  run("echo out; echo err >&2; printf 'a\\0b\\303'");

  EXPECT_EQ(log(), std::string("out\nerr\na\0b\xc3", 12));
}

TEST_F(ShimTest, OpeningItsStreamsAgainByNameErasesNothing) {
  run("echo first; echo two > /dev/stderr; echo three > /dev/stdout; echo four > /proc/self/fd/1; "
      "(echo five | tee /dev/stderr) > /dev/null; echo last");

  EXPECT_EQ(log(), "first\ntwo\nthree\nfour\nfive\nlast\n");
}

TEST_F(ShimTest, KeepsAllThatWasWrittenByProcessesThatWereKilled) {
  run("(trap '' TERM; head -c 60000 /dev/zero; echo > ready; sleep 600) & "
      "until test -s ready; do sleep 0.01; done");

  EXPECT_EQ(log(), std::string(60000, '\0'));
}

TEST_F(ShimTest, WhoeverElseHoldsTheJobsOutputDoesNotHoldUpItsEnd) {
  const io::ProcessIdentity shim =
      start("echo $$ > pid; until test -e go; do sleep 0.01; done; echo over");
  const std::string output = "/proc/" + std::string(trim(wait_for_file("pid"))) + "/fd/1";
  const io::Descriptor held(::open(output.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(held);

  ASSERT_TRUE(io::write_file(paths.directory + "/wd/go", ""));

  EXPECT_EQ(wait(shim).outcome.exit_code, 0);
  EXPECT_EQ(log(), "over\n");
}

TEST_F(ShimTest, ACommandThatClosesItsStreamsStillEnds) {
  EXPECT_EQ(run("exec >&- 2>&- <&-; exit 3").exit_code, 3);
}

TEST_F(ShimTest, GivesTheJobItsEnvironmentAndNothingOfOurs) {
  ::setenv("BERTH_TOKEN", "secret", 1);
  ::setenv("NODE_VARIABLE", "of whoever started the node", 1);
  ::setenv("LC_NODE", "inherited", 1);
  zygote = Zygote::start();
  launch.environment = {{"MY_VARIABLE", "a b"}, {"NODE_OTHER", "x"}};

  run("echo \"$MY_VARIABLE|$LC_NODE|$NODE_VARIABLE|$BERTH_TOKEN|$BERTH_ATTEMPT\"; pwd");

  ::unsetenv("BERTH_TOKEN");
  ::unsetenv("NODE_VARIABLE");
  ::unsetenv("LC_NODE");
  EXPECT_EQ(log(), "a b|inherited|||" + paths.directory + "\n" + paths.directory + "/wd\n");
}

TEST_F(ShimTest, TheJobHasNoDescriptorsButItsThreeStreams) {
  run("ls /proc/self/fd | tr '\\n' ' '; readlink /proc/$$/fd/0");

  EXPECT_EQ(log(), "0 1 2 3 /dev/null\n");  // 3 is ls's own.
}

TEST_F(ShimTest, TheJobsSignalsAreAsAFreshShellExpectsThem) {
  run("grep -E 'Sig(Blk|Ign)' /proc/self/status");

  EXPECT_EQ(log(), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_F(ShimTest, AStopTerminatesTheTree) {
  const io::ProcessIdentity shim = start("echo > ready; sleep 600 & sleep 600");
  wait_for_file("ready");

  ASSERT_TRUE(io::send_signal(shim, SIGTERM));
  const model::Outcome outcome = wait(shim).outcome;

  EXPECT_EQ(outcome.ending, Ending::Stopped);
  EXPECT_EQ(outcome.signal, SIGTERM);
}

TEST_F(ShimTest, AStopLetsTheJobCleanUpWithinItsGrace) {
  zygote = Zygote::start({.grace = 20s});
  const io::ProcessIdentity shim =
      start("trap 'echo bye; exit 5' TERM; echo > ready; while :; do sleep 0.01; done");
  wait_for_file("ready");

  ASSERT_TRUE(io::send_signal(shim, SIGTERM));
  const model::Outcome outcome = wait(shim).outcome;

  EXPECT_EQ(outcome.ending, Ending::Stopped);
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_NE(log().find("bye\n"), std::string::npos);
}

TEST_F(ShimTest, AJobThatIgnoresSigtermIsKilledAfterItsGrace) {
  const io::ProcessIdentity shim =
      start("trap '' TERM; echo > ready; while :; do sleep 0.01; done");
  wait_for_file("ready");

  ASSERT_TRUE(io::send_signal(shim, SIGTERM));
  const model::Outcome outcome = wait(shim).outcome;

  EXPECT_EQ(outcome.ending, Ending::Stopped);
  EXPECT_EQ(outcome.signal, SIGKILL);
}

TEST_F(ShimTest, AJobThatIsSuspendedCanBeStopped) {
  const io::ProcessIdentity shim = start("trap 'exit 9' TERM; echo > ready; kill -STOP $$; exit 1");
  wait_for_file("ready");

  ASSERT_TRUE(io::send_signal(shim, SIGTERM));

  EXPECT_EQ(wait(shim).outcome.ending, Ending::Stopped);
}

TEST_F(ShimTest, AStopThatComesBeforeTheCommandIsNotLost) {
  const io::ProcessIdentity shim = start("sleep 600");
  ASSERT_TRUE(io::send_signal(shim, SIGTERM));

  EXPECT_EQ(wait(shim).outcome.ending, Ending::Stopped);
}

TEST_F(ShimTest, TimeIsUpWhenTheLimitSays) {
  launch.timeout = 1s;

  const model::Outcome outcome = run("sleep 600");

  EXPECT_EQ(outcome.ending, Ending::TimedOut);
  EXPECT_EQ(outcome.message, "it ran longer than its limit of 1 s");
}

TEST_F(ShimTest, ALapsedLeaseKillsTheTreeWithoutGraceThoughNobodySaysSo) {
  zygote = Zygote::start({.grace = 1h});
  const io::ProcessIdentity shim = start(
      "trap '' TERM; (setsid sh -c 'trap \"\" TERM; while :; do sleep 0.01; done' &); echo > "
      "ready; "
      "while :; do sleep 0.01; done");
  wait_for_file("ready");
  ASSERT_TRUE(io::is_alive(shim));

  ASSERT_TRUE(lease->set(since_boot() + 50ms));
  const model::Outcome outcome = wait(shim).outcome;

  EXPECT_EQ(outcome.ending, Ending::Lost);
  EXPECT_EQ(outcome.message, kLeaseLapsed);
}

TEST_F(ShimTest, ALeaseThatIsRenewedInTimeDoesNotLapse) {
  const io::ProcessIdentity shim = start("echo > ready; until test -e go; do sleep 0.01; done");
  wait_for_file("ready");
  const Duration first = since_boot() + 6s;  // So long that a busy machine renews it in time.
  ASSERT_TRUE(lease->set(first));
  while (since_boot() < first - 5400ms) ::usleep(10'000);  // It has looked since.
  ASSERT_TRUE(lease->set(since_boot() + 1h));
  while (since_boot() < first + 600ms) ::usleep(10'000);

  ASSERT_TRUE(io::write_file(paths.directory + "/wd/go", ""));

  EXPECT_EQ(wait(shim).outcome.ending, Ending::Exited);
}

TEST_F(ShimTest, NothingIsStartedUnderALeaseThatHasLapsed) {
  ASSERT_TRUE(lease->set(since_boot() - 1ms));

  const model::Outcome outcome = run("echo started");

  EXPECT_EQ(outcome.ending, Ending::Lost);
  EXPECT_EQ(log(), "no log");
}

TEST_F(ShimTest, ACommandThatEndedBeforeTheLeaseKeepsItsOwnEnding) {
  zygote = Zygote::start({.grace = 1h});
  const io::ProcessIdentity shim = start(
      "(setsid sh -c 'trap \"\" TERM; echo > ready; while :; do sleep 0.01; done' &); "
      "echo $$ > command; until test -s ready; do sleep 0.01; done; exit 6");
  wait_for_file("ready");
  const pid_t command = std::stoi(wait_for_file("command"));
  while (io::identify(command)) ::usleep(10'000);  // Until it is reaped.

  ASSERT_TRUE(lease->set(since_boot()));

  EXPECT_EQ(wait(shim).outcome.exit_code, 6);
}

TEST_F(ShimTest, DaemonsTheJobLeavesBehindAreEndedAndTheOutcomeIsTheCommands) {
  const model::Outcome outcome =
      run("(setsid sh -c 'trap \"\" TERM HUP; echo $$ > daemon; while :; do sleep 0.01; done' &) & "
          "until test -s daemon; do sleep 0.01; done; exit 6");

  EXPECT_EQ(outcome.ending, Ending::Exited);
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_FALSE(io::identify(std::stoi(wait_for_file("daemon"))));
}

TEST_F(ShimTest, AForkingJobIsEndedToTheLastProcess) {
  const io::ProcessIdentity shim = start(
      "trap '' TERM; breed() { trap '' TERM; while :; do sleep 0.02; (breed $1) & "
      "[ $(jobs -p | wc -l) -lt 3 ] || wait; done; }; ulimit -u 4000; echo > ready; breed");
  wait_for_file("ready");

  ASSERT_TRUE(io::send_signal(shim, SIGTERM));

  EXPECT_EQ(wait(shim).outcome.ending, Ending::Stopped);
}

TEST_F(ShimTest, ASecondShimOfTheSameAttemptDoesNothing) {
  const io::ProcessIdentity first =
      start("echo once; echo > ready; until test -e go; do sleep 0.01; done");
  wait_for_file("ready");

  EXPECT_TRUE(io::wait_for_end(launch_shim(), 120s));
  EXPECT_TRUE(io::is_alive(first));
  ASSERT_TRUE(io::write_file(paths.directory + "/wd/go", ""));
  wait(first);
  EXPECT_TRUE(io::wait_for_end(launch_shim(), 120s));

  EXPECT_EQ(log(), "once\n");
}

TEST_F(ShimTest, OutlivesTheZygoteThatMadeIt) {
  const io::ProcessIdentity shim =
      start("echo > ready; until test -e go; do sleep 0.01; done; exit 4");
  wait_for_file("ready");

  zygote = fail(Code::NotFound, "its agent died");
  ASSERT_TRUE(io::write_file(paths.directory + "/wd/go", ""));

  EXPECT_EQ(wait(shim).outcome.exit_code, 4);
}

TEST_F(ShimTest, SaysWhoItIsBeforeTheCommandStarts) {
  const io::ProcessIdentity shim = start("cp ../shim.json seen; echo >> seen");

  wait(shim);

  const auto record = read_record<ShimRecord>(paths.directory + "/wd/seen");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->process.pid, shim.pid);
  EXPECT_EQ(record->process.start_ticks, shim.start_ticks);
}

TEST_F(ShimTest, LeavesNoControlGroupBehind) {
  wait(start("true"));

  const auto record = read_record<ShimRecord>(paths.shim);
  ASSERT_TRUE(record);
  for (const std::string& group : record->cgroups) {
    EXPECT_NE(::access(group.c_str(), F_OK), 0) << group;
  }
}

}  // namespace
}  // namespace berth::node
