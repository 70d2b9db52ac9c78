// SPDX-License-Identifier: Apache-2.0
#include "node/remote.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/file.h"
#include "io/files/temporary_directory.h"
#include "node/files/attempt_files.h"

namespace berth::node {
namespace {

using namespace std::chrono_literals;

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
