// SPDX-License-Identifier: Apache-2.0
#include "node/files/attempt_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/temporary_directory.h"

namespace berth::node {
namespace {

TEST(AttemptFiles, RecordsComeBackAsTheyWere) {
  io::TemporaryDirectory directory;
  const AttemptPaths paths(directory.path());
  const ExitRecord written{.outcome = {model::Ending::Signaled, 0, 9, "x"},
                           .started_at = WallTime(Duration(1000)),
                           .ended_at = WallTime(Duration(2000))};

  ASSERT_TRUE(write_record(paths.exit, written));

  const auto read = read_record<ExitRecord>(paths.exit);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->outcome, written.outcome);
  EXPECT_EQ(read->ended_at, written.ended_at);
  struct stat found {};
  ASSERT_EQ(::stat(paths.exit.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777u, 0600u);
}

TEST(AttemptFiles, WhatIsMissingOrBrokenIsNoRecord) {
  io::TemporaryDirectory directory;
  const AttemptPaths paths(directory.path());
  EXPECT_FALSE(read_record<ShimRecord>(paths.shim));

  ASSERT_TRUE(io::write_file(paths.shim, "{\"process\":"));
  EXPECT_FALSE(read_record<ShimRecord>(paths.shim));
}

TEST(AttemptFiles, AttemptsAreFoundAndSetAsideWithTheirEmptyParents) {
  io::TemporaryDirectory directory;
  for (const char* name : {"w/a/1/wd/deep", "w/a/2", "w/b/1"}) {
    ASSERT_TRUE(io::make_directories(directory / name));
  }
  ASSERT_TRUE(io::write_file(directory / "agent.lock", ""));
  auto found = find_attempts(directory.path());
  std::ranges::sort(found);
  EXPECT_EQ(found, (std::vector<std::string>{"w/a/1", "w/a/2", "w/b/1"}));

  const auto first = set_aside(directory.path(), "w/a/1");
  ASSERT_TRUE(first);
  EXPECT_EQ(::access((directory / *first + "/wd/deep").c_str(), F_OK), 0);
  EXPECT_EQ(::access((directory / "w/a/2").c_str(), F_OK), 0);
  EXPECT_TRUE(set_aside(directory.path(), "w/a/2"));
  EXPECT_NE(::access((directory / "w/a").c_str(), F_OK), 0);
  EXPECT_TRUE(set_aside(directory.path(), "w/b/1"));
  EXPECT_NE(::access((directory / "w").c_str(), F_OK), 0);
  EXPECT_TRUE(find_attempts(directory.path()).empty());

  EXPECT_FALSE(set_aside(directory.path(), "w/b/1")) << "it is not there any more";
}

TEST(AttemptFiles, WhatAnAgentDidNotComeToRemoveIsLeftForTheNext) {
  io::TemporaryDirectory directory;
  for (const char* name : {"w/a/1/wd", "w/b/1", "half/made", "empty"}) {
    ASSERT_TRUE(io::make_directories(directory / name));
  }
  const auto aside = set_aside(directory.path(), "w/a/1");
  ASSERT_TRUE(aside);

  EXPECT_EQ(find_leavings(directory.path()), std::vector<std::string>{*aside});
  for (const char* name : {"half/made", "half", "empty"}) {
    EXPECT_NE(::access((directory / name).c_str(), F_OK), 0) << name;
  }
  EXPECT_EQ(find_attempts(directory.path()), std::vector<std::string>{"w/b/1"});

  remove_set_aside(directory.path(), *aside);
  EXPECT_TRUE(find_leavings(directory.path()).empty());
}

TEST(AttemptFiles, ScratchGoesAndWhatIsKeptStays) {
  io::TemporaryDirectory directory;
  for (const char* file : {"launch.json", "user_logs/std_log.txt", "inputs/x", "wd/big",
                           "wd/outputs/o", "wd/out/o", "real/r", "named-outputs/a/m"}) {
    const std::string path = directory / file;
    ASSERT_TRUE(io::make_directories(path.substr(0, path.rfind('/'))));
    ASSERT_TRUE(io::write_file(path, "x"));
  }
  ASSERT_EQ(::symlink("../real", (directory / "wd/logs").c_str()), 0);

  remove_scratch(AttemptPaths(directory.path()), {"wd/outputs", "wd/logs", "named-outputs/a/m"});

  std::vector<std::string> left;
  const auto files = io::list_tree(directory.path());
  for (const io::FileEntry& file : *files) left.push_back(file.path);
  EXPECT_EQ(left, (std::vector<std::string>{"launch.json", "named-outputs/a/m", "real/r",
                                            "user_logs/std_log.txt", "wd/logs/r", "wd/outputs/o"}));
}

}  // namespace
}  // namespace berth::node
