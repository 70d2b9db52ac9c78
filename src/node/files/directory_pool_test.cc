// SPDX-License-Identifier: Apache-2.0
#include "node/files/directory_pool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <thread>

#include "io/files/temporary_directory.h"
#include "node/files/attempt_files.h"

namespace berth::node {
namespace {

class DirectoryPoolTest : public testing::Test {
 protected:
  static wire::node::Launch launch_of(const std::string& job, int attempt = 1) {
    wire::node::Launch launch;
    launch.attempt = {
        .job = {.workspace = {"ws"}, .name = job}, .attempt = attempt, .fence = "of-" + job};
    launch.directories = {"wd", "wd/outputs", "wd/logs"};
    return launch;
  }

  AttemptPaths paths_of(const wire::node::Launch& launch) const {
    return AttemptPaths(directory / wire::node::attempt_directory(launch.attempt));
  }

  /// Lays it out and leaves in it what agent, shim and command leave.
  AttemptPaths run(const wire::node::Launch& launch) {
    EXPECT_TRUE(pool.lay_out(launch));
    AttemptPaths paths = paths_of(launch);
    EXPECT_TRUE(write_record(paths.launch, LaunchRecord{"boot", launch}));
    EXPECT_TRUE(io::FileLock::try_lock(paths.lock));
    EXPECT_TRUE(write_record(paths.shim, ShimRecord{}));
    const auto reserved = reserve_file(paths.exit);
    EXPECT_TRUE(reserved &&
                fill_reserved(*reserved, paths.exit, record::encode_text(ExitRecord{})));
    std::ofstream(paths.log) << "secret\n";
    ::chmod(paths.log.c_str(), 0600);
    return paths;
  }

  static ino_t inode_of(const std::string& path) {
    struct stat found {};
    EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
    return found.st_ino;
  }

  std::vector<std::string> files_below(const std::string& path) const {
    std::vector<std::string> names;
    const auto files = io::list_tree(path);
    EXPECT_TRUE(files);
    for (const io::FileEntry& file : *files) names.push_back(file.path);
    return names;
  }

  /// Used for an attempt that was over so long ago that any change since then shows by its time.
  void use_once() {
    run(launch_of("earlier"));
    ASSERT_TRUE(pool.take_back(launch_of("earlier").attempt));
    clock.advance(std::chrono::hours(1));
    pass_a_tick();
  }

  /// Waits until the clock of the file system, which goes in steps, shows another time.
  static void pass_a_tick() {
    const auto now = [] {
      timespec time{};
      ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
      return std::pair(time.tv_sec, time.tv_nsec);
    };
    const auto before = now();
    while (now() == before) std::this_thread::yield();
  }

  io::TemporaryDirectory directory;
  SimClock clock{};
  DirectoryPool pool{clock, directory.path(), 8};
};

TEST_F(DirectoryPoolTest, ADirectoryThatIsAsItWasMadeIsUsedAgain) {
  const AttemptPaths first = run(launch_of("a"));
  const ino_t made = inode_of(first.directory);
  ASSERT_TRUE(pool.take_back(launch_of("a").attempt));
  EXPECT_NE(::access(first.directory.c_str(), F_OK), 0);
  EXPECT_TRUE(find_attempts(directory.path()).empty());

  ASSERT_TRUE(pool.lay_out(launch_of("b")));

  const AttemptPaths second = paths_of(launch_of("b"));
  EXPECT_EQ(inode_of(second.directory), made);
  for (const std::string& record : {second.launch, second.shim, second.exit}) {
    EXPECT_NE(::access(record.c_str(), F_OK), 0) << record;
  }
  EXPECT_EQ(files_below(second.directory + "/wd"), std::vector<std::string>{});
  EXPECT_EQ(::access((second.directory + "/wd/outputs").c_str(), F_OK), 0);
  EXPECT_EQ(io::read_file(second.log), "");
}

TEST_F(DirectoryPoolTest, NothingOfALongerRecordShowsBehindAShorterOne) {
  wire::node::Launch wordy = launch_of("a");
  wordy.command = std::string(20'000, 'x');
  run(wordy);
  ASSERT_TRUE(pool.take_back(wordy.attempt));

  const AttemptPaths second = run(launch_of("b"));

  const auto record = read_record<LaunchRecord>(second.launch);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->launch.attempt.job.name, "b");
  EXPECT_EQ(io::read_file(second.launch)->find('x'), std::string::npos);
  EXPECT_TRUE(read_record<ExitRecord>(second.exit));
}

/// What a job may do to its directory, so that it must not be another's.
class DirectoryPoolMischiefTest : public DirectoryPoolTest,
                                  public testing::WithParamInterface<bool> {};

TEST_P(DirectoryPoolMischiefTest, WhateverAJobLeavesOrChangesIsNotKept) {
  const std::string elsewhere = directory / "elsewhere";
  io::Descriptor held;
  const std::pair<const char*, std::function<void(const AttemptPaths&)>> mischief[] = {
      {"a file", [](const auto& p) { std::ofstream(p.directory + "/wd/left"); }},
      {"a hidden file", [](const auto& p) { std::ofstream(p.directory + "/wd/.left"); }},
      {"an output", [](const auto& p) { std::ofstream(p.directory + "/wd/outputs/o"); }},
      {"a log of its own", [](const auto& p) { std::ofstream(p.directory + "/wd/logs/l"); }},
      {"a file beside its log", [](const auto& p) { std::ofstream(p.log_directory + "/l"); }},
      {"a file outside of wd", [](const auto& p) { std::ofstream(p.directory + "/left"); }},
      {"a directory", [](const auto& p) { ::mkdir((p.directory + "/wd/d").c_str(), 0700); }},
      {"another attempt", [](const auto& p) { ::mkdir((p.directory + "/../2").c_str(), 0700); }},
      {"a second name of its log",
       [&](const auto& p) { ::link(p.log.c_str(), elsewhere.c_str()); }},
      {"a second name of a record",
       [&](const auto& p) { ::link(p.launch.c_str(), (elsewhere + "2").c_str()); }},
      {"a descriptor of its log",
       [&](const auto& p) { held = io::Descriptor(::open(p.log.c_str(), O_WRONLY | O_APPEND)); }},
      {"a link for a folder",
       [&](const auto& p) {
         ::rmdir((p.directory + "/wd/outputs").c_str());
         ::symlink(directory.path().c_str(), (p.directory + "/wd/outputs").c_str());
       }},
      {"a link for its log",
       [&](const auto& p) {
         ::unlink(p.log.c_str());
         ::symlink("/etc/hostname", p.log.c_str());
       }},
      {"a missing folder", [](const auto& p) { ::rmdir((p.directory + "/wd/logs").c_str()); }},
      {"another mode", [](const auto& p) { ::chmod((p.directory + "/wd").c_str(), 0777); }},
      {"a folder in the place of another",
       [](const auto& p) {
         ::rename((p.directory + "/wd/logs").c_str(), (p.directory + "/../../logs").c_str());
         ::mkdir((p.directory + "/wd/logs").c_str(), 0700);
         ::mkdir((p.directory + "/wd/logs/d").c_str(), 0700);
       }},
      {"a missing record", [](const auto& p) { ::unlink(p.exit.c_str()); }},
  };
  int number = 0;
  for (const auto& [what, leave] : mischief) {
    if (GetParam()) use_once();
    const wire::node::Launch launch = launch_of("job" + std::to_string(++number));
    const AttemptPaths paths = run(launch);
    EXPECT_EQ(pool.is_untouched(launch.attempt, "wd/outputs"), GetParam()) << what;
    leave(paths);

    EXPECT_FALSE(pool.take_back(launch.attempt)) << what;

    EXPECT_NE(::access(paths.launch.c_str(), F_OK), 0) << what << ": it is an attempt no more";
    EXPECT_EQ(::access(paths.directory.c_str(), F_OK), 0) << what << ": left to be removed";
  }
}

INSTANTIATE_TEST_SUITE_P(All, DirectoryPoolMischiefTest, testing::Bool(), [](const auto& usage) {
  return std::string(usage.param ? "InOneUsedBefore" : "InANewOne");
});

TEST_F(DirectoryPoolTest, OneThatNobodyTouchesIsUsedAgainAndAgain) {
  for (int round = 0; round < 3; ++round) use_once();
  const AttemptPaths paths = run(launch_of("a"));

  for (const char* const folder : {"wd", "wd/outputs", "wd/logs", "user_logs"}) {
    EXPECT_TRUE(pool.is_untouched(launch_of("a").attempt, folder)) << folder;
  }
  EXPECT_FALSE(pool.is_untouched(launch_of("a").attempt, "named-outputs/model"));
  EXPECT_FALSE(pool.is_untouched(launch_of("b").attempt, "wd"));

  std::ofstream(paths.directory + "/wd/outputs/o");

  EXPECT_FALSE(pool.is_untouched(launch_of("a").attempt, "wd/outputs"));
  EXPECT_TRUE(pool.is_untouched(launch_of("a").attempt, "wd/logs"));
}

TEST_F(DirectoryPoolTest, WhatWasPutBackAsItWasIsUsedAgain) {
  use_once();
  const AttemptPaths paths = run(launch_of("a"));
  std::ofstream(paths.directory + "/wd/outputs/o");
  ::unlink((paths.directory + "/wd/outputs/o").c_str());

  EXPECT_TRUE(pool.take_back(launch_of("a").attempt));
}

/// The clock of a file system stands still for a moment: a change in it would not show.
TEST_F(DirectoryPoolTest, OneThatWasOverOnlyJustNowIsLookedInto) {
  run(launch_of("a"));
  ASSERT_TRUE(pool.take_back(launch_of("a").attempt));
  clock.advance(std::chrono::milliseconds(20));
  run(launch_of("b"));

  EXPECT_FALSE(pool.is_untouched(launch_of("b").attempt, "wd/outputs"));
  EXPECT_TRUE(pool.take_back(launch_of("b").attempt));
}

TEST_F(DirectoryPoolTest, FoldersThatAreNotUsualAreMadeAsWell) {
  run(launch_of("a"));
  ASSERT_TRUE(pool.take_back(launch_of("a").attempt));
  wire::node::Launch launch = launch_of("b");
  launch.directories.push_back("named-outputs/model");
  launch.fetches = {{.destination = "inputs/rows", .is_folder = true}};

  ASSERT_TRUE(pool.lay_out(launch));

  EXPECT_EQ(::access((paths_of(launch).directory + "/named-outputs/model").c_str(), F_OK), 0);
  EXPECT_EQ(::access((paths_of(launch).directory + "/inputs/rows").c_str(), F_OK), 0);
  EXPECT_FALSE(pool.take_back(launch.attempt));
}

TEST_F(DirectoryPoolTest, ALaterAttemptBesideAnEarlierOneHasADirectoryOfItsOwn) {
  run(launch_of("a"));
  ASSERT_TRUE(pool.take_back(launch_of("a").attempt));
  ASSERT_TRUE(pool.lay_out(launch_of("b", 2)));
  ASSERT_TRUE(pool.lay_out(launch_of("b", 1)));

  EXPECT_EQ(::access((directory / "ws/b/1-of-b/wd/outputs").c_str(), F_OK), 0);
  EXPECT_EQ(::access((directory / "ws/b/2-of-b/wd/outputs").c_str(), F_OK), 0);
}

TEST_F(DirectoryPoolTest, WhatAnEarlierAgentKeptOrBeganIsNotUsed) {
  run(launch_of("a"));
  ASSERT_TRUE(pool.take_back(launch_of("a").attempt));
  std::ofstream(directory / ".pool/1/1-of-a/wd/strange");

  DirectoryPool next(clock, directory.path(), 8);
  ASSERT_TRUE(next.lay_out(launch_of("b")));

  EXPECT_EQ(files_below(directory.path()), std::vector<std::string>{});
}

TEST_F(DirectoryPoolTest, GoesWithItsAgent) {
  {
    DirectoryPool other(clock, directory.path(), 8);
    run(launch_of("a"));
    ASSERT_TRUE(other.take_back(launch_of("a").attempt));
  }
  EXPECT_NE(::access((directory / ".pool").c_str(), F_OK), 0);
}

TEST_F(DirectoryPoolTest, KeepsNoMoreThanItMay) {
  DirectoryPool small(clock, directory.path(), 1);
  for (const char* const name : {"a", "b"}) run(launch_of(name));

  EXPECT_TRUE(small.take_back(launch_of("a").attempt));
  EXPECT_FALSE(small.take_back(launch_of("b").attempt));
}

}  // namespace
}  // namespace berth::node
