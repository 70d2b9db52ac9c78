// SPDX-License-Identifier: Apache-2.0
#include "node/shim/leftovers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/random.h"
#include "io/files/temporary_directory.h"
#include "io/process/cgroup.h"
#include "node/shim/process_tree.h"
#include "node/shim/testing_shim.h"

namespace berth::node {
namespace {

using namespace std::chrono_literals;

class LeftoversTest : public testing::Test {
 protected:
  LeftoversTest() {
    EXPECT_TRUE(io::make_directories(paths.directory + "/wd"));
    EXPECT_TRUE(io::make_directories(paths.log_directory));
  }

  /// A command that is running, under a supervisor without an agent.
  io::ProcessIdentity start(const std::string& command) {
    const wire::node::Launch launch{{.command = command}, {{{"ws"}, name}, 1}};
    EXPECT_TRUE(write_record(paths.launch, LaunchRecord{boot_id(), launch}));
    Result<Zygote> zygote = Zygote::start();
    const io::ProcessIdentity shim = launch_without_agent(*zygote, paths);
    for (int look = 0; look < 24'000 && !is_there("wd/up"); ++look) ::usleep(5'000);
    EXPECT_TRUE(is_there("wd/up"));
    return shim;
  }

  bool is_there(const std::string& below) const {
    return ::access((paths.directory + "/" + below).c_str(), F_OK) == 0;
  }

  io::TemporaryDirectory directory;
  std::string name = "left-" + random_hex(6);
  AttemptPaths paths{directory / "ws/" + name + "/1"};
};

TEST_F(LeftoversTest, ASweepEndsWhatRunsAndRemovesIt) {
  const io::ProcessIdentity shim = start("setsid sleep 600 & touch up; sleep 600");
  const auto record = read_record<ShimRecord>(paths.shim);
  ASSERT_TRUE(record);
  ASSERT_FALSE(processes_marked(marker_of(paths)).empty());

  ASSERT_TRUE(sweep(directory.path()));

  EXPECT_FALSE(io::is_alive(shim));
  EXPECT_TRUE(processes_marked(marker_of(paths)).empty());
  EXPECT_NE(::access((directory / "ws").c_str(), F_OK), 0);
  EXPECT_TRUE(find_leavings(directory.path()).empty());
  for (const std::string& group : record->cgroups) {
    EXPECT_NE(::access(group.c_str(), F_OK), 0) << group << " was left behind";
  }
}

TEST_F(LeftoversTest, NothingIsSweptFromUnderAnAgent) {
  const auto agent = io::FileLock::try_lock(directory / "agent.lock");
  ASSERT_TRUE(agent);

  EXPECT_EQ(sweep(directory.path()).error().code, Code::Conflict);

  EXPECT_TRUE(is_there("wd"));
}

TEST_F(LeftoversTest, AGroupThatNobodyCameToWriteDownIsRemoved) {
  const auto made = io::Cgroup::make(group_name(paths), std::nullopt);
  if (!made) GTEST_SKIP() << "no control groups for this user";

  kill_leftovers(paths);

  for (const std::string& group : made->directories()) {
    EXPECT_NE(::access(group.c_str(), F_OK), 0) << group << " was left behind";
  }
}

}  // namespace
}  // namespace berth::node
