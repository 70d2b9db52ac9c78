// SPDX-License-Identifier: Apache-2.0
#include "io/process/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "base/text.h"
#include "io/files/temporary_directory.h"

namespace berth::io {
namespace {

class ProcessTest : public testing::Test {
 protected:
  SpawnOptions shell(const std::string& script) {
    return {.command = {"sh", "-c", script},
            .environment = {{"PATH", "/usr/bin:/bin"}, {"MARK", "here"}},
            .stdout_path = directory / "out"};
  }

  /// Runs it to its end and returns what it printed.
  std::string output_of(const SpawnOptions& options) {
    const auto child = spawn(options);
    EXPECT_TRUE(child);
    if (!child) return {};
    int status = 0;
    EXPECT_EQ(::waitpid(child->pid, &status, 0), child->pid);
    EXPECT_TRUE(WIFEXITED(status));
    return *read_file(directory / "out");
  }

  TemporaryDirectory directory;
};

TEST_F(ProcessTest, SpawnsWithExactlyTheGivenEnvironmentAndDirectory) {
  SpawnOptions options = shell("echo $MARK $HOME; pwd; cat; echo err >&2");
  options.working_directory = directory.path();

  EXPECT_EQ(output_of(options), "here\n" + directory.path() + "\nerr\n");
}

TEST_F(ProcessTest, AppendsToTheOutputFile) {
  ASSERT_TRUE(write_file(directory / "out", "before\n"));

  EXPECT_EQ(output_of(shell("echo after")), "before\nafter\n");
}

TEST_F(ProcessTest, KeepsOnlyTheDescriptorsItWasTold) {
  const Descriptor leaked(::open("/dev/null", O_RDONLY));  // Not close-on-exec, as a library may.
  const Descriptor kept(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  SpawnOptions options = shell("ls /proc/self/fd | wc -l; ls -l /proc/$$/fd");
  options.inherit = {kept.get()};

  const std::string listed = output_of(options);

  EXPECT_EQ(listed.find("5\n"), 0u) << listed;  // 0, 1, 2, the kept one, and ls's own.
  EXPECT_NE(listed.find(" " + std::to_string(kept.get()) + " -> /dev/zero"), std::string::npos);
}

TEST_F(ProcessTest, ANewSessionIsLedByTheChild) {
  SpawnOptions options = shell("cut -d' ' -f1,6 /proc/$$/stat");
  options.new_session = true;
  const std::string output = output_of(options);
  const auto words = split(trim(output), ' ');

  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0], words[1]);
}

TEST_F(ProcessTest, SaysWhenThereIsNoSuchCommand) {
  EXPECT_EQ(spawn({.command = {"/no/such/command"}}).error().code, Code::NotFound);
  EXPECT_EQ(spawn({}).error().code, Code::InvalidArgument);
}

TEST_F(ProcessTest, TellsAProcessFromALaterOneWithTheSameNumber) {
  const auto self = identify(::getpid());
  ASSERT_TRUE(self);
  EXPECT_TRUE(is_alive(*self));

  const ProcessIdentity earlier{self->pid, self->start_ticks - 1};
  EXPECT_FALSE(is_alive(earlier));
  EXPECT_EQ(open_process(earlier).error().code, Code::NotFound);
  EXPECT_TRUE(send_signal(earlier, SIGKILL)) << "and it must not reach us";
}

/// In the first process of a namespace, where the kernel can be told which number comes next.
enum Reuse { Told, Mistaken, Impossible };

[[noreturn]] void use_a_number_again() {
  const pid_t first = ::fork();
  if (first == 0) ::pause();
  const auto identity = identify(first);
  ::kill(first, SIGKILL);
  ::waitpid(first, nullptr, 0);
  if (!identity) ::_exit(Impossible);
  timespec now{};
  const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  do {  // A number cannot be used again within the hundredth of a second in which it was.
    ::clock_gettime(CLOCK_BOOTTIME, &now);
  } while (static_cast<std::uint64_t>(now.tv_sec) * ticks +
               static_cast<std::uint64_t>(now.tv_nsec) * ticks / 1'000'000'000 <=
           identity->start_ticks + 1);
  const int next = ::open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
  const std::string before = std::to_string(first - 1);
  if (next < 0 || ::write(next, before.data(), before.size()) < 0) ::_exit(Impossible);
  const pid_t second = ::fork();
  if (second == 0) ::pause();
  if (second != first) ::_exit(Impossible);
  const bool is_told_apart = !is_alive(*identity) && !open_process(*identity);
  (void)send_signal(*identity, SIGKILL);
  const bool is_unharmed = is_alive(*identify(second)) && ::waitpid(second, nullptr, WNOHANG) == 0;
  ::_exit(is_told_apart && is_unharmed ? Told : Mistaken);
}

TEST_F(ProcessTest, ASignalForAProcessThatIsGoneDoesNotReachTheOneThatHasItsNumberNow) {
  const pid_t outer = ::fork();
  if (outer == 0) {
    if (::unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) ::_exit(Impossible);
    const pid_t inner = ::fork();
    if (inner == 0) {
      const bool has_own_view = ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                                ::mount("proc", "/proc", "proc", 0, nullptr) == 0;
      has_own_view ? use_a_number_again() : ::_exit(Impossible);
    }
    int status = 0;
    ::waitpid(inner, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : Mistaken);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(outer, &status, 0), outer);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == Impossible) GTEST_SKIP() << "no namespaces of processes for this user";
  EXPECT_EQ(WEXITSTATUS(status), Told);
}

TEST_F(ProcessTest, AZombieIsNotAlive) {
  const auto child = spawn(shell("exec sleep 60"));
  ASSERT_TRUE(child);
  EXPECT_TRUE(is_alive(*child));
  const auto handle = open_process(*child);
  ASSERT_TRUE(handle);

  ASSERT_TRUE(send_signal(*child, SIGKILL));
  pollfd ended{handle->get(), POLLIN, 0};
  ASSERT_EQ(::poll(&ended, 1, -1), 1);

  EXPECT_FALSE(is_alive(*child));
  EXPECT_TRUE(identify(child->pid)) << "not reaped yet";
  reap(child->pid);
  EXPECT_FALSE(identify(child->pid));
}

TEST_F(ProcessTest, KnowsItsOwnExecutableAndEnvironment) {
  EXPECT_NE(own_executable()->find("io_test"), std::string::npos);
  EXPECT_TRUE(current_environment().contains("PATH"));
}

}  // namespace
}  // namespace berth::io
