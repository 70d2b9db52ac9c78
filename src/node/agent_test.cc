// SPDX-License-Identifier: Apache-2.0
// What an agent does with what its server says.
#include "node/agent_fixture.h"

namespace berth::node {
namespace {

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
  EXPECT_TRUE(ended.since_start);
  EXPECT_TRUE(read_record<LaunchRecord>(paths().launch));

  server->say(wire::node::Forget{launch.attempt});

  const std::string job = paths().directory.substr(0, paths().directory.rfind('/'));
  EXPECT_TRUE(until([&] { return ::access(job.c_str(), F_OK) != 0; }));
}

TEST_F(AgentTest, TellsThatAJobRunsWhenItDoesNotEndAtOnce) {
  connect();
  send_launch("until test -e go; do sleep 0.01; done");
  ASSERT_TRUE(until([&] {
    const auto said = server->heard<Advanced>();
    return !said.empty() && said.back().phase == Phase::Running;
  }));

  touch("go");
  wait_for_end();

  std::vector<Phase> phases;
  for (const Advanced& advanced : server->heard<Advanced>()) phases.push_back(advanced.phase);
  EXPECT_TRUE(std::ranges::is_sorted(phases));
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

TEST_F(AgentTest, AFolderIsNotTheOneBesideItNorItsOwnMarker) {
  server->blobs = {{"data/", ""}, {"data/a", "a"}, {"data/sub/", ""}, {"data2/b", "b"}};
  launch.fetches = {{.url = server->container_url(),
                     .destination = "wd/in",
                     .is_folder = true,
                     .prefix = "data",
                     .what = "input 'x'"}};

  run("find in -type f");

  EXPECT_EQ(log(), "in/a\n");
}

TEST_F(AgentTest, ALinkInThePlaceOfAnOutputIsNotFollowed) {
  ASSERT_TRUE(io::make_directories(directory / "elsewhere"));
  ASSERT_TRUE(io::write_file(directory / "elsewhere/secret", "x"));
  launch.directories = {"wd/out"};
  launch.deliveries = {{.source = "wd/out",
                        .container_url = server->container_url(),
                        .prefix = "out/",
                        .what = "outputs"}};

  const Ended ended = run("rmdir out; ln -s " + directory / "elsewhere out");

  EXPECT_EQ(ended.delivery_errors.size(), 1u);
  EXPECT_TRUE(server->blobs.empty());
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
      {.source = "wd/good", .container_url = url, .prefix = "good/", .what = "good"},
      {.source = "wd/logs", .container_url = url, .prefix = "logs/", .what = "logs"}};

  const Ended ended = run("mkdir good logs; touch good/g logs/l; ln -s /etc/passwd logs/secret");

  EXPECT_EQ(ended.delivery_errors,
            std::vector<std::string>{"output 'model': the command did not write it"});
  EXPECT_TRUE(server->blobs.contains("good/g"));
  EXPECT_TRUE(server->blobs.contains("logs/l"));
  EXPECT_FALSE(server->blobs.contains("logs/secret"));
}

TEST_F(AgentTest, FilesWithOddNamesAreKeptUnderOthersAndTold) {
  launch.directories = {"wd/out"};
  launch.deliveries = {{.source = "wd/out",
                        .container_url = server->container_url(),
                        .prefix = "out/",
                        .what = "outputs/"}};

  const Ended ended = run(
      "cd out; echo 1 > 'a\\b'; echo 2 > $'c\\nd'; echo 3 > $'\\377'; echo 4 > fine; mkfifo pipe");

  EXPECT_EQ(ended.outcome.exit_code, 0);
  EXPECT_TRUE(ended.delivery_errors.empty());
  EXPECT_EQ(
      server->blobs,
      (std::map<std::string, std::string>{
          {"out/a%5Cb", "1\n"}, {"out/c%0Ad", "2\n"}, {"out/%FF", "3\n"}, {"out/fine", "4\n"}}));
  std::vector<std::string> notes = ended.outcome.notes;
  std::ranges::sort(notes);
  EXPECT_EQ(notes, (std::vector<std::string>{
                       "outputs/\\xff is kept as 'outputs/%FF'",
                       "outputs/a\\\\b is kept as 'outputs/a%5Cb'",
                       "outputs/c\\nd is kept as 'outputs/c%0Ad'",
                       "outputs/pipe is not kept: it is not a file, or a link that leaves the "
                       "folder"}));
}

TEST_F(AgentTest, AStopEndsWhatTheServerHasNoRoomFor) {
  launch.directories = {"wd/out"};
  launch.deliveries = {{.source = "wd/out",
                        .container_url = server->container_url(),
                        .prefix = "out/",
                        .what = "outputs"}};
  connect();
  server->refusals = std::deque<int>(10'000, 507);
  send_launch("echo big > out/o");
  ASSERT_TRUE(until([&] { return server->requests > 1; }));

  server->say(wire::node::Stop{launch.attempt});

  const Ended ended = wait_for_end();
  EXPECT_EQ(ended.outcome.ending, Ending::Stopped);
  EXPECT_NE(ended.outcome.message.find("could not be kept"), std::string::npos);
}

TEST_F(AgentTest, WhatAFailedCommandWroteIsSentBackAndWhatItDidNotWriteIsNoError) {
  const std::string url = server->container_url();
  launch.deliveries = {
      {.source = "wd/model",
       .container_url = url,
       .prefix = "m",
       .is_folder = false,
       .what = "model"},
      {.source = "wd/logs", .container_url = url, .prefix = "logs/", .what = "logs"}};

  const Ended ended = run("mkdir logs; touch logs/l; exit 3");

  EXPECT_EQ(ended.outcome.exit_code, 3);
  EXPECT_TRUE(ended.delivery_errors.empty());
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

/// Only the directory of a short job is used again, and on a busy machine not every job is short.
TEST_F(AgentTest, AJobSeesNothingOfTheOneWhoseDirectoryItGets) {
  launch.directories = {"wd", "wd/outputs", "wd/logs"};
  connect();
  std::size_t ends = 0;
  const auto run_as = [&](const std::string& name, const std::string& command) {
    launch.attempt.job.name = name;
    send_launch(command);
    ++ends;
    return until([&] { return server->heard<Ended>().size() == ends; });
  };
  const auto forget = [&] {
    server->say(wire::node::Forget{launch.attempt});
    return until([&] { return ::access(paths().directory.c_str(), F_OK) != 0; });
  };
  bool is_used_again = false;
  for (int i = 0; i < 50 && !is_used_again; ++i) {
    launch.environment = {{"SECRET", "first-only"}};
    ASSERT_TRUE(run_as(fmt::format("first-{}", i), "echo of the first")) << agent_log();
    const ino_t inode = inode_of(paths().directory);
    ASSERT_TRUE(forget());

    launch.environment.clear();
    ASSERT_TRUE(run_as(fmt::format("second-{}", i),
                       "pwd; find . -type f; cat ../user_logs/std_log.txt | wc -l; "
                       "cat ../*.json ../.*.json 2> /dev/null | grep -c 'first-onl[y]'"))
        << agent_log();
    EXPECT_EQ(log(), paths().directory + "/wd\n1\n0\n");
    is_used_again = inode_of(paths().directory) == inode;
    ASSERT_TRUE(forget());
  }
  EXPECT_TRUE(is_used_again);
}

TEST_F(AgentTest, AForgetOfARunningJobEndsItSilently) {
  connect();
  send_launch("echo up; sleep 600");
  ASSERT_TRUE(until([&] { return log() == "up\n"; }));

  server->say(wire::node::Forget{launch.attempt});

  EXPECT_TRUE(until([&] { return ::access(paths().directory.c_str(), F_OK) != 0; }));
  EXPECT_TRUE(server->heard<Ended>().empty());
}

}  // namespace
}  // namespace berth::node
