// SPDX-License-Identifier: Apache-2.0
// The real agent in a process of its own, against a server that is only pretended.
#include "node/agent.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <csignal>

#include "base/log.h"
#include "base/random.h"
#include "io/temporary_directory.h"
#include "node/attempt_files.h"
#include "node/fake_server.h"
#include "node/process_tree.h"

namespace berth::node {
namespace {

using namespace std::chrono_literals;
using model::Ending;
using wire::node::Advanced;
using wire::node::AttemptRef;
using wire::node::Ended;
using wire::node::Hello;
using wire::node::Launch;
using wire::node::Phase;

class AgentTest : public testing::Test {
 protected:
  AgentTest() {
    options = {.id = {"n1"},
               .home = directory.path(),
               .work_root = directory / "work",
               .token_file = directory / "token",
               .slots = 2,
               .housekeeping = 50ms};
    EXPECT_TRUE(io::write_file(options.token_file, "token\n"));
    launch.attempt = {.job = {.workspace = {"ws"}, .name = "agent-" + random_hex(6)}, .attempt = 1};
    launch.grace = 100ms;
    server = std::make_unique<FakeServer>(*loop, directory.path());
  }

  ~AgentTest() override {
    if (agent > 0) kill_agent();
    for (const auto& left : processes_marked(marker())) {
      ADD_FAILURE() << "process " << left.pid << " was left behind";
      ::kill(left.pid, SIGKILL);
    }
  }

  /// The agent must be forked from one thread, which this test program has as long as its loop runs
  /// here and nowhere else.
  void start_agent() {
    agent = ::fork();
    if (agent == 0) {
      log::to_file(directory / "agent.log", log::Level::Debug);
      const Status ended = run_agent(options);
      ::_exit(ended ? 0 : 1);
    }
  }

  void kill_agent() {
    ::kill(agent, SIGKILL);
    ::waitpid(agent, nullptr, 0);
    agent = 0;
  }

  template <typename Condition>
  [[nodiscard]] bool until(Condition is_so) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      loop->context().run_one_for(50ms);
    }
    return true;
  }

  void connect() {
    if (agent == 0) start_agent();
    ASSERT_TRUE(until([&] { return !server->heard<Hello>().empty(); }));
  }

  /// Another server on another port, after the old one died.
  void replace_server() {
    const auto blobs = server->blobs;
    const auto logs = server->logs;
    server.reset();
    loop = std::make_unique<io::Loop>();
    server = std::make_unique<FakeServer>(*loop, directory.path());
    server->blobs = blobs;
    server->logs = logs;
  }

  void send_launch(const std::string& command) {
    launch.command = command;
    server->say(launch);
  }

  Ended wait_for_end() {
    EXPECT_TRUE(until([&] { return !server->heard<Ended>().empty(); })) << agent_log();
    const auto ended = server->heard<Ended>();
    return ended.empty() ? Ended{} : ended.front();
  }

  Ended run(const std::string& command) {
    connect();
    send_launch(command);
    return wait_for_end();
  }

  bool wait_for_file(const std::string& name) {
    return until([&] { return ::access((paths().directory + "/wd/" + name).c_str(), F_OK) == 0; });
  }
  void touch(const std::string& name) {
    ASSERT_TRUE(io::write_file(paths().directory + "/wd/" + name, ""));
  }

  int wait_for_exit() {
    int status = -1;
    EXPECT_TRUE(until([&] { return ::waitpid(agent, &status, WNOHANG) == agent; }));
    agent = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  AttemptPaths paths() const {
    return AttemptPaths(options.work_root + "/" + wire::node::attempt_directory(launch.attempt));
  }
  std::string marker() const { return wire::node::attempt_directory(launch.attempt); }
  const std::string& log() { return server->logs[launch.attempt]; }
  std::string agent_log() const { return io::read_file(directory / "agent.log").value_or(""); }

  io::TemporaryDirectory directory;
  AgentOptions options{};
  Launch launch{};
  std::unique_ptr<io::Loop> loop = std::make_unique<io::Loop>();
  std::unique_ptr<FakeServer> server{};
  pid_t agent = 0;
};

TEST_F(AgentTest, SaysWhoItIs) {
  connect();

  const Hello hello = server->heard<Hello>().front();
  EXPECT_EQ(hello.node.text, "n1");
  EXPECT_EQ(hello.slots, 2);
  EXPECT_EQ(hello.work_root, options.work_root);
  EXPECT_TRUE(hello.attempts.empty());
}

TEST_F(AgentTest, RunsALaunchAndForgetsItWhenTold) {
  const Ended ended = run("echo hi");

  EXPECT_EQ(ended.attempt, launch.attempt);
  EXPECT_EQ(ended.outcome, (model::Outcome{Ending::Exited, 0, 0, ""}));
  EXPECT_EQ(ended.log_size, 3u);
  EXPECT_EQ(log(), "hi\n");
  std::vector<Phase> phases;
  for (const Advanced& advanced : server->heard<Advanced>()) phases.push_back(advanced.phase);
  EXPECT_EQ(phases, (std::vector{Phase::Preparing, Phase::Running, Phase::Finalizing}));
  EXPECT_TRUE(read_record<LaunchRecord>(paths().launch));

  server->say(wire::node::Forget{launch.attempt});

  EXPECT_TRUE(until([&] { return ::access((options.work_root + "/ws").c_str(), F_OK) != 0; }));
}

TEST_F(AgentTest, RepeatingALaunchStartsNothing) {
  connect();
  send_launch("echo once; until test -e go; do sleep 0.01; done");
  ASSERT_TRUE(until([&] { return log() == "once\n"; }));

  server->say(launch);
  touch("go");
  wait_for_end();

  EXPECT_EQ(log(), "once\n");
}

TEST_F(AgentTest, FetchesWhatTheJobNeedsAndDeliversWhatItMade) {
  server->blobs = {{"code/run.sh",
                    "cat ../inputs/rows.csv ../inputs/all/deep/er.txt > outputs/o.txt\n"
                    "mkdir outputs/sub; echo 2 > 'outputs/sub/a b.txt'"},
                   {"rows", "1,2\n"},
                   {"data/deep/er.txt", "deeper\n"}};
  for (int i = 0; i < 250; ++i) server->blobs["data/many/" + std::to_string(i)] = "x";
  const std::string url = server->container_url();
  const std::string blob = url.substr(0, url.find('?')) + "/rows?sig=x";
  launch.fetches = {
      {.url = url, .destination = "wd", .is_folder = true, .prefix = "code/", .what = "code"},
      {.url = blob, .destination = "inputs/rows.csv", .what = "input 'rows'"},
      {.url = url,
       .destination = "inputs/all",
       .is_folder = true,
       .prefix = "data/",
       .what = "input 'all'"}};
  launch.directories = {"wd/outputs"};
  launch.deliveries = {
      {.source = "wd/outputs", .container_url = url, .prefix = "out/", .what = "outputs"}};

  const Ended ended = run("./run.sh && ls ../inputs/all/many | wc -l");

  EXPECT_EQ(ended.outcome.exit_code, 0) << log();
  EXPECT_TRUE(ended.delivery_errors.empty());
  EXPECT_EQ(log(), "250\n");
  EXPECT_EQ(server->blobs["out/o.txt"], "1,2\ndeeper\n");
  EXPECT_EQ(server->blobs["out/sub/a b.txt"], "2\n");
}

TEST_F(AgentTest, WhatCannotBeFetchedIsNamed) {
  launch.fetches = {{.url = server->container_url(), .destination = "x", .what = "input 'rows'"}};
  launch.fetches[0].url.replace(launch.fetches[0].url.find("/c?"), 3, "/c/none?");

  const Ended ended = run("echo never");

  EXPECT_EQ(ended.outcome.ending, Ending::NotStarted);
  EXPECT_TRUE(ended.outcome.message.starts_with("input 'rows': ")) << ended.outcome.message;
  EXPECT_NE(ended.outcome.message.find("404"), std::string::npos);
  EXPECT_EQ(ended.outcome.message.find("sig=x"), std::string::npos) << "signatures are secret";
  EXPECT_EQ(log(), "");
}

TEST_F(AgentTest, AListingCannotPutFilesElsewhere) {
  server->blobs = {{"code/../../evil", "x"}};
  launch.fetches = {{.url = server->container_url(),
                     .destination = "wd",
                     .is_folder = true,
                     .prefix = "code/",
                     .what = "code"}};

  const Ended ended = run("echo never");

  EXPECT_EQ(ended.outcome.ending, Ending::NotStarted);
  const auto files = io::list_tree(directory.path());
  for (const io::FileEntry& file : *files) {
    EXPECT_EQ(file.path.find("evil"), std::string::npos);
  }
}

TEST_F(AgentTest, TransfersOutlastAServerThatIsUnwell) {
  server->blobs = {{"code/a", "x"}};
  server->refusals = {503, 500};
  launch.fetches = {{.url = server->container_url(),
                     .destination = "wd",
                     .is_folder = true,
                     .prefix = "code/",
                     .what = "code"}};
  launch.deliveries = {{.source = "wd/out",
                        .container_url = server->container_url(),
                        .prefix = "out/",
                        .what = "outputs"}};
  connect();
  send_launch("cat a; mkdir out; echo kept > out/o; until test -e go; do sleep 0.01; done");
  ASSERT_TRUE(until([&] { return log() == "x"; }));
  server->refusals = {503, 507};

  touch("go");

  EXPECT_EQ(wait_for_end().outcome.exit_code, 0);
  EXPECT_EQ(server->blobs["out/o"], "kept\n");
}

TEST_F(AgentTest, DeliveriesSayWhatIsMissingAndRespectOnlyOnSuccess) {
  const std::string url = server->container_url();
  launch.deliveries = {
      {.source = "wd/model",
       .container_url = url,
       .prefix = "m",
       .is_folder = false,
       .what = "output 'model'"},
      {.source = "wd/good",
       .container_url = url,
       .prefix = "good/",
       .only_on_success = true,
       .what = "good"},
      {.source = "wd/logs", .container_url = url, .prefix = "logs/", .what = "logs"}};

  const Ended ended = run("mkdir good logs; touch good/g logs/l; ln -s /etc/passwd logs/secret");

  EXPECT_EQ(ended.delivery_errors,
            std::vector<std::string>{"output 'model': the command did not write it"});
  EXPECT_TRUE(server->blobs.contains("good/g"));
  EXPECT_TRUE(server->blobs.contains("logs/l"));
  EXPECT_FALSE(server->blobs.contains("logs/secret"));
}

TEST_F(AgentTest, AFailedCommandKeepsItsLogsButNotWhatNeedsSuccess) {
  const std::string url = server->container_url();
  launch.deliveries = {
      {.source = "wd/model",
       .container_url = url,
       .prefix = "m",
       .is_folder = false,
       .what = "model"},
      {.source = "wd/good",
       .container_url = url,
       .prefix = "good/",
       .only_on_success = true,
       .what = "good"},
      {.source = "wd/logs", .container_url = url, .prefix = "logs/", .what = "logs"}};

  const Ended ended = run("mkdir good logs; touch good/g logs/l; exit 3");

  EXPECT_EQ(ended.outcome.exit_code, 3);
  EXPECT_TRUE(ended.delivery_errors.empty());
  EXPECT_FALSE(server->blobs.contains("good/g"));
  EXPECT_TRUE(server->blobs.contains("logs/l"));
}

TEST_F(AgentTest, AStopEndsARunningJob) {
  connect();
  send_launch("echo up; sleep 600");
  ASSERT_TRUE(until([&] { return log() == "up\n"; }));

  server->say(wire::node::Stop{launch.attempt});

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Stopped);
}

TEST_F(AgentTest, AStopEndsAPreparationThatHangs) {
  server->is_mute = true;
  launch.fetches = {
      {.url = server->container_url(), .destination = "wd", .is_folder = true, .what = "code"}};
  connect();
  send_launch("echo never");
  ASSERT_TRUE(until([&] { return server->requests > 0; }));

  server->say(wire::node::Stop{launch.attempt});

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Stopped);
}

TEST_F(AgentTest, AStopOfSomethingUnknownIsAnsweredWithLost) {
  connect();
  server->say(wire::node::Stop{launch.attempt});

  EXPECT_EQ(wait_for_end().outcome.ending, Ending::Lost);
}

TEST_F(AgentTest, AForgetOfARunningJobEndsItSilently) {
  connect();
  send_launch("echo up; sleep 600");
  ASSERT_TRUE(until([&] { return log() == "up\n"; }));

  server->say(wire::node::Forget{launch.attempt});

  EXPECT_TRUE(until([&] { return ::access(paths().directory.c_str(), F_OK) != 0; }));
  EXPECT_TRUE(server->heard<Ended>().empty());
}

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
  ASSERT_TRUE(io::wait_for_end(shim->process, 20s));
  replace_server();

  connect();
  launch.deliveries[0].container_url = server->container_url();
  server->say(launch);

  EXPECT_EQ(wait_for_end().outcome.exit_code, 0);
  EXPECT_EQ(server->blobs["out/o"], "result\n");
  EXPECT_EQ(log(), "end\n");
}

TEST_F(AgentTest, RefusedSignaturesAreRenewedByDiallingAgain) {
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

TEST_F(AgentTest, ALargeLogArrivesWhole) {
  const Ended ended = run("head -c 9000000 /dev/zero | tr '\\0' 'x'; printf 'end\\303'");

  EXPECT_EQ(ended.log_size, 9'000'004u);
  EXPECT_EQ(log().size(), 9'000'004u);
  EXPECT_TRUE(log().ends_with("xend\xc3"));
}

TEST_F(AgentTest, ZZTiming) {
  connect();
  std::vector<double> times;
  for (int i = 0; i < 50; ++i) {
    launch.attempt.attempt = i + 1;
    const auto t0 = std::chrono::steady_clock::now();
    const auto n = server->heard<Ended>().size();
    send_launch("date +%s%N");
    double first = 0;
    EXPECT_TRUE(until([&] { return server->heard<Ended>().size() > n; }));
    const auto t1 = std::chrono::steady_clock::now();
    const auto wall0 = std::chrono::system_clock::now().time_since_epoch() - (t1 - t0);
    first = (std::stod(log()) - double(std::chrono::duration_cast<std::chrono::nanoseconds>(wall0).count())) / 1e6;
    printf("start %.1f end %.1f\n", first, std::chrono::duration<double, std::milli>(t1 - t0).count());
    server->say(wire::node::Forget{launch.attempt});
  }
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
