// SPDX-License-Identifier: Apache-2.0
#include "io/process/command.h"

#include <gtest/gtest.h>

#include "io/files/temporary_directory.h"
#include "io/process/process.h"

namespace berth::io {
namespace {

using namespace std::chrono_literals;

CommandRequest shell(const std::string& script) {
  return {.command = {"/bin/sh", "-c", script}, .environment = current_environment()};
}

TEST(Command, TakesBothStreamsAndTheExitCode) {
  const auto ran = run_command(shell("echo out; echo err >&2; exit 3"));

  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->out, "out\n");
  EXPECT_EQ(ran->error, "err\n");
  EXPECT_EQ(ran->exit_code, 3);
}

TEST(Command, GetsItsInputAndOnlyTheGivenEnvironment) {
  CommandRequest request = shell("cat; echo $A$HOME");
  request.environment = {{"A", "b"}};
  request.input = "line\n";

  EXPECT_EQ(run_command(request)->out, "line\nb\n");
}

TEST(Command, TakesMoreThanAPipeHolds) {
  EXPECT_EQ(run_command(shell("head -c 300000 /dev/zero"))->out.size(), 300'000u);
}

TEST(Command, OneThatASignalEndsSaysSo) {
  EXPECT_EQ(run_command(shell("kill -KILL $$"))->exit_code, 137);
}

TEST(Command, OneThatIsMissingIsNotFound) {
  const auto ran = run_command({.command = {"berth-no-such-command"}});

  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, Code::NotFound);
  EXPECT_NE(ran.error().message.find("berth-no-such-command"), std::string::npos);
}

TEST(Command, OneThatHangsIsEndedWithAllItStarted) {
  const TemporaryDirectory directory;
  CommandRequest request =
      shell("trap '' TERM; sleep 600 & echo $! > " + directory / "child" + "; wait");
  request.time_limit = 3s;  // Long enough to begin on a busy machine.

  const auto ran = run_command(request);

  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, Code::Unavailable);
  const auto child = identify(std::stoi(*read_file(directory / "child")));
  EXPECT_TRUE(!child || wait_for_end(*child, 120s));
}

TEST(Command, ADaemonThatKeepsTheStreamsOpenIsNotWaitedFor) {
  const auto ran = run_command(shell("setsid sleep 2 & echo done"));

  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->out, "done\n");
}

TEST(Command, OneThatPrintsWithoutEndIsEnded) {
  CommandRequest request = shell("cat /dev/zero");
  request.output_limit = 1u << 20;

  const auto ran = run_command(request);

  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, Code::TooLarge);
}

}  // namespace
}  // namespace berth::io
