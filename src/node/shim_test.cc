// SPDX-License-Identifier: Apache-2.0
// Real shims, real processes: what becomes of a command however it behaves.
#include "node/shim.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "base/random.h"
#include "base/text.h"
#include "io/cgroup.h"
#include "io/temporary_directory.h"
#include "node/attempt_files.h"
#include "node/lease.h"
#include "node/process_tree.h"
#include "node/testing_shim.h"
#include "node/zygote.h"

namespace berth::node {
namespace {

using namespace std::chrono_literals;
using model::Ending;

class ShimTest : public testing::Test {
 protected:
  ShimTest() {
    EXPECT_TRUE(io::make_directories(paths.directory + "/wd"));
    EXPECT_TRUE(io::make_directories(paths.log_directory));
    launch.attempt = {.job = {.workspace = {"ws"}, .name = "shim-" + random_hex(6)}, .attempt = 1};
    launch.grace = 100ms;
    EXPECT_TRUE(lease && lease->set(std::nullopt));
  }

  io::ProcessIdentity start(const std::string& command) {
    launch.command = command;
    EXPECT_TRUE(write_record(paths.launch, LaunchRecord{boot_id(), launch}));
    return launch_shim();
  }

  io::ProcessIdentity launch_shim() { return launch_without_agent(*zygote, paths); }

  ExitRecord wait(const io::ProcessIdentity& shim) {
    EXPECT_TRUE(io::wait_for_end(shim, 30s)) << "the shim does not end";
    const auto exit = read_record<ExitRecord>(paths.exit);
    EXPECT_TRUE(exit) << "no exit.json";
    EXPECT_TRUE(processes_marked(marker_of(paths)).empty());
    return exit.value_or(ExitRecord{});
  }

  model::Outcome run(const std::string& command) { return wait(start(command)).outcome; }

  std::string log() const { return io::read_file(paths.log).value_or("no log"); }

  /// Blocks until the command has written the file.
  std::string wait_for_file(const std::string& name) const {
    for (int attempt = 0; attempt < 2000; ++attempt) {
      const auto text = io::read_file(paths.directory + "/wd/" + name);
      if (text && text->ends_with('\n')) return *text;
      ::usleep(5'000);
    }
    ADD_FAILURE() << "the command did not write " << name;
    return "0\n";
  }

  io::TemporaryDirectory directory;
  AttemptPaths paths{directory / "ws/job/1"};
  Result<LeaseFile> lease = LeaseFile::make(directory.path());
  wire::node::Launch launch{};
  Result<Zygote> zygote = Zygote::start();
};

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

TEST_F(ShimTest, ACommandThatClosesItsStreamsStillEnds) {
  EXPECT_EQ(run("exec >&- 2>&- <&-; exit 3").exit_code, 3);
}

TEST_F(ShimTest, GivesTheJobItsEnvironmentAndNothingOfOurs) {
  ::setenv("BERTH_TOKEN", "secret", 1);
  ::setenv("NODE_VARIABLE", "inherited", 1);
  zygote = Zygote::start();
  launch.environment = {{"MY_VARIABLE", "a b"}, {"NODE_OTHER", "x"}};

  run("echo \"$MY_VARIABLE|$NODE_VARIABLE|$BERTH_TOKEN|$BERTH_ATTEMPT\"; pwd");

  ::unsetenv("BERTH_TOKEN");
  ::unsetenv("NODE_VARIABLE");
  EXPECT_EQ(log(), "a b|inherited||" + paths.directory + "\n" + paths.directory + "/wd\n");
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
  launch.grace = 20s;
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
  launch.grace = 1h;
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
  ASSERT_TRUE(lease->set(since_boot() + 300ms));
  const io::ProcessIdentity shim = start("echo > ready; until test -e go; do sleep 0.01; done");
  wait_for_file("ready");
  const Duration first = since_boot() + 300ms;
  ASSERT_TRUE(lease->set(since_boot() + 1h));
  while (since_boot() < first + 300ms) ::usleep(10'000);

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
  launch.grace = 1h;
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

  EXPECT_TRUE(io::wait_for_end(launch_shim(), 30s));
  EXPECT_TRUE(io::is_alive(first));
  ASSERT_TRUE(io::write_file(paths.directory + "/wd/go", ""));
  wait(first);
  EXPECT_TRUE(io::wait_for_end(launch_shim(), 30s));

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

/// Several attempts, each with a directory of its own, for one agent.
class ShimReuseTest : public ShimTest {
 protected:
  Supervisor begin(const std::string& name, const std::string& command) {
    paths = AttemptPaths(directory / name);
    EXPECT_TRUE(io::make_directories(paths.directory + "/wd"));
    EXPECT_TRUE(io::make_directories(paths.log_directory));
    launch.command = command;
    EXPECT_TRUE(write_record(paths.launch, LaunchRecord{boot_id(), launch}));
    return *zygote->launch(paths.directory);
  }

  model::Outcome finish(Supervisor supervisor) {
    EXPECT_TRUE(supervisor.is_idle_again());
    zygote->keep(std::move(supervisor));
    const auto exit = read_record<ExitRecord>(paths.exit);
    EXPECT_TRUE(exit);
    return exit.value_or(ExitRecord{}).outcome;
  }
};

TEST_F(ShimReuseTest, RunsOneAttemptAfterTheOther) {
  Supervisor first = begin("first", "echo one; exit 1");
  const pid_t pid = first.process().pid;
  EXPECT_EQ(finish(std::move(first)).exit_code, 1);
  EXPECT_EQ(log(), "one\n");

  Supervisor second = begin("second", "echo two; exit 2");
  EXPECT_EQ(second.process().pid, pid);
  EXPECT_EQ(finish(std::move(second)).exit_code, 2);
  EXPECT_EQ(log(), "two\n");
}

TEST_F(ShimReuseTest, RunsTwoAttemptsAtOnceInTwoShims) {
  Supervisor first = begin("first", "until test -e ../../second/wd/ready; do sleep 0.01; done");
  Supervisor second = begin("second", "echo > ready");

  EXPECT_NE(first.process().pid, second.process().pid);
  EXPECT_EQ(finish(std::move(second)).exit_code, 0);
  EXPECT_TRUE(first.is_idle_again());
}

TEST_F(ShimReuseTest, AStopNeverHitsTheNextAttempt) {
  Supervisor first = begin("first", "echo > ready; sleep 600");
  wait_for_file("ready");
  first.stop();
  const pid_t pid = first.process().pid;
  EXPECT_EQ(finish(std::move(first)).ending, Ending::Stopped);

  Supervisor second = begin("second", "true");
  EXPECT_NE(second.process().pid, pid);
  EXPECT_EQ(finish(std::move(second)), (model::Outcome{Ending::Exited, 0, 0, ""}));
}

TEST_F(ShimReuseTest, OneThatHadToKillFindsStraysOfTheNextAttemptAsWell) {
  const std::string stubborn =
      "(setsid sh -c 'trap \"\" TERM; echo $$ > stray; while :; do sleep 0.01; done' &) & "
      "until test -s stray; do sleep 0.01; done";
  finish(begin("first", stubborn));

  Supervisor second = begin("second", stubborn + "; cat /proc/$$/cgroup > groups; echo >> groups");
  finish(std::move(second));

  EXPECT_FALSE(io::identify(std::stoi(wait_for_file("stray"))));
  const auto record = read_record<ShimRecord>(paths.shim);
  ASSERT_TRUE(record);
  for (const std::string& group : record->cgroups) {
    const std::string name = group.substr(group.rfind('/'));
    EXPECT_NE(wait_for_file("groups").find(name), std::string::npos) << "outside of " << group;
  }
}

TEST_F(ShimReuseTest, AnIdleOneThatWasKilledIsReplaced) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "a thread of TSan keeps the dead one's socket open for a moment";
#endif
  Supervisor first = begin("first", "true");
  const io::ProcessIdentity process = first.process();
  finish(std::move(first));
  ASSERT_TRUE(io::send_signal(process, SIGKILL));
  ASSERT_TRUE(io::wait_for_end(process, 30s));
  const auto killed = read_record<ShimRecord>(paths.shim);
  ASSERT_TRUE(killed);

  EXPECT_EQ(finish(begin("second", "exit 3")).exit_code, 3);
  for (const std::string& group : killed->cgroups) {
    EXPECT_NE(::access(group.c_str(), F_OK), 0) << group << " was left behind";
  }
}

TEST_F(ShimReuseTest, DoesNotBeginWhatAnAgentThatIsGoneHandedToIt) {
  Supervisor first = begin("first", "true");
  const io::ProcessIdentity process = first.process();
  finish(std::move(first));
  ASSERT_TRUE(io::send_signal(process, SIGSTOP));

  { const Supervisor handed = begin("second", "echo ran > ran"); }
  ASSERT_TRUE(io::send_signal(process, SIGCONT));

  ASSERT_TRUE(io::wait_for_end(process, 30s));
  EXPECT_NE(::access(paths.shim.c_str(), F_OK), 0);
  EXPECT_NE(::access(paths.exit.c_str(), F_OK), 0);
}

TEST_F(ShimReuseTest, IdleOnesAreGoneWhenTheyHaveBeenDismissed) {
  Supervisor first = begin("first", "true");
  const io::ProcessIdentity process = first.process();
  finish(std::move(first));

  zygote->dismiss_idle();

  EXPECT_FALSE(io::is_alive(process));
}

TEST_F(ShimReuseTest, IdleOnesEndWithTheirAgent) {
  Supervisor first = begin("first", "true");
  const io::ProcessIdentity process = first.process();
  finish(std::move(first));

  zygote = fail(Code::NotFound, "its agent died");

  EXPECT_TRUE(io::wait_for_end(process, 30s));
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

TEST_F(ShimTest, TellsRunningOutOfMemoryFromOtherKills) {
  const auto probe = io::Cgroup::make("probe-" + random_hex(6), 1u << 30);
  const bool can_limit = probe && std::ranges::any_of(probe->directories(), [](const auto& group) {
                           return ::access((group + "/memory.max").c_str(), W_OK) == 0 ||
                                  ::access((group + "/memory.limit_in_bytes").c_str(), W_OK) == 0;
                         });
  if (probe) probe->remove();
  if (!can_limit) GTEST_SKIP() << "no memory control groups for this user";
  launch.memory_limit_bytes = 64u << 20;

  const model::Outcome outcome =
      run("head -c 300000000 /dev/zero | tail | wc -c; exit ${PIPESTATUS[1]}");

  EXPECT_EQ(outcome.ending, Ending::OutOfMemory) << outcome.message << log();
  EXPECT_NE(outcome.message.find("limit of 64"), std::string::npos) << outcome.message;
}

TEST_F(ShimTest, AJobThatForksForEverHasNoMoreProcessesThanItMay) {
  const auto probe = io::Cgroup::make("probe-" + random_hex(6), std::nullopt);
  const bool can_limit = probe && probe->limit_processes(100);
  if (probe) probe->remove();
  if (!can_limit) GTEST_SKIP() << "no control groups that limit processes for this user";
  launch.process_limit = 20;

  const model::Outcome outcome =
      run("exec python3 -c \"\n"
          "import os, signal, sys\n"
          "for number in range(200):\n"
          "  try:\n"
          "    if os.fork() == 0: signal.pause()\n"
          "  except OSError: sys.exit(number)\n"
          "\"");

  EXPECT_EQ(outcome.ending, Ending::Exited) << outcome.message << log();
#ifdef __SANITIZE_THREAD__  // Threads of TSan count as well.
  EXPECT_LE(outcome.exit_code, 19);
  EXPECT_GT(outcome.exit_code, 0);
#else
  EXPECT_EQ(outcome.exit_code, 19) << "itself and 19 others";
#endif
}

TEST_F(ShimTest, AKillThatHasNothingToDoWithMemoryIsASignal) {
  launch.memory_limit_bytes = 1u << 30;

  EXPECT_EQ(run("kill -KILL $$").ending, Ending::Signaled);
}

}  // namespace
}  // namespace berth::node
