// SPDX-License-Identifier: Apache-2.0
// What every Runtime promises. A runtime joins by adding a Lodging to kLodgings.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <thread>

#include "io/files/temporary_directory.h"
#include "node/runtime/command.h"
#include "node/runtime/fake_runtime.h"
#include "node/runtime/host_runtime.h"

namespace berth::node {
namespace {

using namespace std::chrono_literals;

constexpr auto kLimit = 120s;  // Of waits: for hangs.

/// Where a runtime keeps what it makes: it outlasts runtime objects, as the world does.
class Lodging {
 public:
  virtual ~Lodging() = default;
  virtual std::unique_ptr<Runtime> make_runtime() = 0;
  /// Whether something of this attempt's alone is there, other than its directory.
  virtual bool has_traces(const AttemptPaths& paths) = 0;
};

class HostLodging final : public Lodging {
 public:
  std::unique_ptr<Runtime> make_runtime() override { return std::make_unique<HostRuntime>(); }
  bool has_traces(const AttemptPaths&) override { return false; }
};

class FakeLodging final : public Lodging {
 public:
  std::unique_ptr<Runtime> make_runtime() override {
    return std::make_unique<FakeRuntime>(root_.path());
  }
  bool has_traces(const AttemptPaths& paths) override {
    return FakeRuntime(root_.path()).has_instance(paths);
  }

 private:
  io::TemporaryDirectory root_;
};

struct LodgingCase {
  const char* name;
  std::function<std::unique_ptr<Lodging>()> make;
};

const LodgingCase kLodgings[] = {
    {"Host", [] { return std::make_unique<HostLodging>(); }},
    {"Fake", [] { return std::make_unique<FakeLodging>(); }},
};

class RuntimeContract : public testing::TestWithParam<LodgingCase> {
 protected:
  struct End {
    int status = -1;  ///< Of waitpid().
    std::string output{};
  };

  /// Of an attempt that is laid out.
  AttemptPaths attempt(const std::string& name) {
    const AttemptPaths paths(directory / name);
    EXPECT_TRUE(io::make_directories(paths.directory + "/wd"));
    return paths;
  }

  RuntimeRecord prepare(const AttemptPaths& paths) {
    const Result<RuntimeRecord> prepared = runtime->prepare(paths, launch, {});
    EXPECT_TRUE(prepared) << prepared.error().message;
    return prepared.value_or(RuntimeRecord{});
  }

  /// As a shim does it.
  End run(const AttemptPaths& paths, const RuntimeRecord& prepared, const std::string& text,
          std::map<std::string, std::string> environment = {}) {
    environment.emplace("PATH", "/usr/bin:/bin");
    const auto invocation =
        runtime->wrap(prepared, {text, paths.directory + "/wd", std::move(environment)});
    EXPECT_TRUE(invocation) << invocation.error().message;
    if (!invocation) return {};
    const std::string log = paths.directory + "/log";
    const io::Descriptor file(::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const Result<pid_t> started = start_command({.output = file.get()}, *invocation, io::Cgroup());
    EXPECT_TRUE(started) << started.error().message;
    End end;
    if (started) ::waitpid(*started, &end.status, 0);
    end.output = io::read_file(log).value_or("");
    return end;
  }

  io::TemporaryDirectory directory;
  wire::node::Launch launch{};
  std::unique_ptr<Lodging> lodging = GetParam().make();
  std::unique_ptr<Runtime> runtime = lodging->make_runtime();
};

TEST_P(RuntimeContract, ACommandRunsInItsFolderAndItsExitCodeIsSeen) {
  const AttemptPaths a = attempt("a");

  const End end = run(a, prepare(a), "pwd -P; exit 7");

  ASSERT_TRUE(WIFEXITED(end.status));
  EXPECT_EQ(WEXITSTATUS(end.status), 7);
  EXPECT_EQ(end.output, std::filesystem::canonical(a.directory + "/wd").string() + "\n");
}

TEST_P(RuntimeContract, ACommandIsTakenWordForWord) {
  const AttemptPaths a = attempt("a");

  const End end = run(a, prepare(a), "printf '%s|' \"a  b\" '$HOME' \"it's\"\nprintf '\\\\n\"'");

  EXPECT_EQ(end.output, "a  b|$HOME|it's|\\n\"");
}

TEST_P(RuntimeContract, ACommandHasTheVariablesItIsGivenAndNoneOfOurs) {
  ASSERT_EQ(::setenv("BERTH_OURS", "x", 1), 0);
  const AttemptPaths a = attempt("a");

  const End end = run(a, prepare(a), "printf '%s|' \"$ODD\" \"${BERTH_OURS-none}\"",
                      {{"ODD", "a=b \"c\"\n$d 'e'"}});

  EXPECT_EQ(end.output, "a=b \"c\"\n$d 'e'|none|");
}

TEST_P(RuntimeContract, ASignalThatEndsTheCommandIsSeen) {
  const AttemptPaths a = attempt("a");

  const End end = run(a, prepare(a), "kill -TERM $$; exit 1");

  const bool is_signal = WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGTERM;
  const bool is_told = WIFEXITED(end.status) && WEXITSTATUS(end.status) == 128 + SIGTERM;
  EXPECT_TRUE(is_signal || is_told) << end.status;
}

TEST_P(RuntimeContract, PreparingTwiceGivesTheSame) {
  const AttemptPaths a = attempt("a");
  const RuntimeRecord first = prepare(a);

  EXPECT_EQ(prepare(a), first);
  EXPECT_EQ(run(a, first, "echo hi").output, "hi\n");
}

TEST_P(RuntimeContract, AnotherProcessWrapsByTheRecordAlone) {
  const AttemptPaths a = attempt("a");
  const std::string text = record::encode_text(prepare(a));

  runtime = lodging->make_runtime();
  const auto read = record::decode_text<RuntimeRecord>(text);

  ASSERT_TRUE(read);
  EXPECT_EQ(run(a, *read, "echo hi").output, "hi\n");
}

TEST_P(RuntimeContract, CleaningUpLeavesNothingAndIsRepeatable) {
  const AttemptPaths a = attempt("a");
  EXPECT_TRUE(runtime->clean_up(a)) << "it was never prepared";
  (void)run(a, prepare(a), "true");

  EXPECT_TRUE(runtime->clean_up(a));
  EXPECT_FALSE(lodging->has_traces(a));
  EXPECT_TRUE(runtime->clean_up(a));
}

TEST_P(RuntimeContract, ALaterAgentCleansUpAfterAnEarlierOne) {
  const AttemptPaths a = attempt("a");
  (void)prepare(a);

  runtime = lodging->make_runtime();

  EXPECT_TRUE(runtime->clean_up(a));
  EXPECT_FALSE(lodging->has_traces(a));
}

TEST_P(RuntimeContract, AttemptsAreIndependent) {
  const AttemptPaths a = attempt("a");
  const AttemptPaths b = attempt("b");
  (void)prepare(a);
  const RuntimeRecord prepared = prepare(b);

  ASSERT_TRUE(runtime->clean_up(a));

  EXPECT_EQ(run(b, prepared, "echo hi").output, "hi\n");
}

TEST_P(RuntimeContract, WhatWasCleanedUpCanBePreparedAgain) {
  const AttemptPaths a = attempt("a");
  (void)prepare(a);
  ASSERT_TRUE(runtime->clean_up(a));

  EXPECT_EQ(run(a, prepare(a), "echo hi").output, "hi\n");
}

TEST_P(RuntimeContract, PreparingThatIsCancelledReturnsAndLeavesNothingThatCannotBeCleanedUp) {
  const AttemptPaths a = attempt("a");
  std::stop_source source;
  source.request_stop();

  (void)runtime->prepare(a, launch, {.cancelled = source.get_token()});

  EXPECT_TRUE(runtime->clean_up(a));
  EXPECT_FALSE(lodging->has_traces(a));
  EXPECT_EQ(run(a, prepare(a), "echo hi").output, "hi\n");
}

INSTANTIATE_TEST_SUITE_P(All, RuntimeContract, testing::ValuesIn(kLodgings),
                         [](const auto& test) { return test.param.name; });

// What the fake can be told to do, which the tests of the agent rest on.

class FakeRuntimeTest : public testing::Test {
 protected:
  io::TemporaryDirectory directory;
  AttemptPaths paths{directory / "a"};
  FakeRuntime runtime{directory.path()};
};

TEST_F(FakeRuntimeTest, FailsAsItIsTold) {
  runtime.fail_with("no such image");

  const auto prepared = runtime.prepare(paths, {}, {});

  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().message, "no such image");
  EXPECT_FALSE(runtime.has_instance(paths));
}

TEST_F(FakeRuntimeTest, IsSlowUntilItIsCancelledAndSaysWhatItDoesBefore) {
  runtime.be_slow();
  std::stop_source source;
  std::promise<std::string> said;
  auto prepared = std::async(std::launch::async, [&] {
    return runtime.prepare(paths, {},
                           {.cancelled = source.get_token(), .say = [&](std::string_view text) {
                              said.set_value(std::string(text));
                            }});
  });
  auto heard = said.get_future();
  ASSERT_EQ(heard.wait_for(kLimit), std::future_status::ready);
  EXPECT_EQ(heard.get(), "building\n");
  EXPECT_EQ(prepared.wait_for(0s), std::future_status::timeout);

  source.request_stop();

  ASSERT_EQ(prepared.wait_for(kLimit), std::future_status::ready);
  EXPECT_FALSE(prepared.get());
}

TEST_F(FakeRuntimeTest, BuildsOnceForAllAttempts) {
  ASSERT_TRUE(runtime.prepare(paths, {}, {}));
  ASSERT_TRUE(runtime.prepare(AttemptPaths(directory / "b"), {}, {}));

  EXPECT_EQ(runtime.builds(), 1);
}

}  // namespace
}  // namespace berth::node
