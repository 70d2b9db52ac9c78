// SPDX-License-Identifier: Apache-2.0
#include "node/remote.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "io/files/file.h"
#include "io/files/temporary_directory.h"
#include "node/files/attempt_files.h"

namespace berth::node {
namespace {

using namespace std::chrono_literals;

TEST(SlurmEndTime, IsWhatTheEnvironmentSays) {
  EXPECT_EQ(slurm_end_time({{"SLURM_JOB_END_TIME", "1800000000"}}), WallTime(1'800'000'000s));
  EXPECT_FALSE(slurm_end_time({}));
}

TEST(SlurmEndTime, OtherwiseSqueueIsAsked) {
  const io::TemporaryDirectory directory;
  ASSERT_TRUE(io::write_file(directory / "squeue",
                             "#!/bin/sh\n[ \"$3 $SLURM_TIME_FORMAT\" = '--jobs=17 %s' ] && echo "
                             "1800000001\n",
                             0700));
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (directory.path() + ":" + path).c_str(), 1);

  const auto told = slurm_end_time({{"SLURM_JOB_ID", "17"}, {"PATH", path}});
  ASSERT_TRUE(io::write_file(directory / "squeue", "#!/bin/sh\necho N/A\n", 0700));
  const auto untold = slurm_end_time({{"SLURM_JOB_ID", "17"}, {"PATH", path}});

  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(told, WallTime(1'800'000'001s));
  EXPECT_FALSE(untold);
}

TEST(Abandoned, OnlyWhatNobodyUsesAndIsOldIsRemoved) {
  const io::TemporaryDirectory directory;
  const std::string held = directory / "berth-node-held/work";
  const std::string busy = directory / "berth-node-busy/work/ws/job/1";
  for (const std::string& path :
       {directory / "berth-node-dead/work/ws/job/1", held, busy, directory / "somebody-elses"}) {
    ASSERT_TRUE(io::make_directories(path));
  }
  ASSERT_TRUE(io::write_file(directory / "berth-node-dead/work/ws/job/1/launch.json", "{}"));
  ASSERT_TRUE(io::write_file(busy + "/launch.json", "{}"));
  const auto agent = io::FileLock::try_lock(held + "/agent.lock");
  const auto shim = io::FileLock::try_lock(AttemptPaths(busy).lock);
  ASSERT_TRUE(agent && shim);
  const WallTime now = SystemClock().now().wall;

  remove_abandoned(directory.path(), now);
  EXPECT_EQ(::access((directory / "berth-node-dead").c_str(), F_OK), 0);
  remove_abandoned(directory.path(), now + 2h);

  EXPECT_NE(::access((directory / "berth-node-dead").c_str(), F_OK), 0);
  EXPECT_EQ(::access(held.c_str(), F_OK), 0);
  EXPECT_EQ(::access(busy.c_str(), F_OK), 0);
  EXPECT_EQ(::access((directory / "somebody-elses").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace berth::node
