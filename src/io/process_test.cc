// SPDX-License-Identifier: Apache-2.0
#include "io/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/text.h"
#include "io/temporary_directory.h"

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
