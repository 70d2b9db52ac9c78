// SPDX-License-Identifier: Apache-2.0
// Shims that run one attempt after the other.
#include <poll.h>
#include <unistd.h>

#include <csignal>

#include "base/text.h"
#include "io/process/suspend_fixture.h"
#include "node/shim/shim_fixture.h"

namespace berth::node {
namespace {

/// Several attempts, each with a directory of its own, for one agent.
class ShimReuseTest : public ShimTest {
 protected:
  Supervisor begin(const std::string& name, const std::string& command) {
    paths = AttemptPaths(directory / name);
    EXPECT_TRUE(io::make_directories(paths.directory + "/wd"));
    EXPECT_TRUE(io::make_directories(paths.log_directory));
    launch.command = command;
    EXPECT_TRUE(write_record(paths.launch, LaunchRecord{boot_id(), launch}));
    return *zygote->launch({.directory = paths.directory});
  }

  model::Outcome finish(Supervisor supervisor) {
    EXPECT_TRUE(supervisor.is_idle_again());
    zygote->keep(std::move(supervisor));
    const auto exit = read_record<ExitRecord>(paths.exit);
    EXPECT_TRUE(exit);
    return exit.value_or(ExitRecord{}).outcome;
  }

  static bool has_hung_up(const io::Descriptor& socket) {
    constexpr int kAtMost = 120'000;
    pollfd watched{socket.get(), 0, 0};
    return ::poll(&watched, 1, kAtMost) == 1 && (watched.revents & POLLHUP) != 0;
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
  const io::Descriptor socket(::dup(first.fd()));
  finish(std::move(first));
  ASSERT_TRUE(io::send_signal(process, SIGKILL));
  ASSERT_TRUE(io::wait_for_end(process, 120s));
  ASSERT_TRUE(has_hung_up(socket)) << "its other thread still has its end";
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
  ASSERT_TRUE(io::suspend(process));

  { const Supervisor handed = begin("second", "echo ran > ran"); }
  ASSERT_TRUE(io::send_signal(process, SIGCONT));

  ASSERT_TRUE(io::wait_for_end(process, 120s));
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

  EXPECT_TRUE(io::wait_for_end(process, 120s));
}

}  // namespace
}  // namespace berth::node
