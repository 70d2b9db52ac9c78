// SPDX-License-Identifier: Apache-2.0
#include "target/surroundings.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "io/files/file.h"
#include "io/files/temporary_directory.h"
#include "target/slurm/pilot.h"

namespace berth::target {
namespace {

using namespace std::chrono_literals;

TEST(Surroundings, OfASlurmJobEndWhenTheEnvironmentSays) {
  const Surroundings found = surroundings_of(
      {{"SLURM_JOB_END_TIME", "1800000000"}, {"SLURM_JOB_ID", "17"}, {"SLURM_JOB_USER", "ana"}});
  EXPECT_EQ(found.ends_at, WallTime(1'800'000'000s));
  EXPECT_EQ(found.left_behind, slurm::pilot_log("ana", "17"));
}

TEST(Surroundings, OfNoSiteSayNothing) {
  const Surroundings found = surroundings_of({{"PATH", "/bin"}});
  EXPECT_FALSE(found.ends_at);
  EXPECT_EQ(found.left_behind, "");
}

TEST(Surroundings, OfASlurmJobAreAskedOfSqueueOtherwise) {
  const io::TemporaryDirectory directory;
  ASSERT_TRUE(io::write_file(directory / "squeue",
                             "#!/bin/sh\n[ \"$3 $SLURM_TIME_FORMAT\" = '--jobs=17 %s' ] && echo "
                             "1800000001\n",
                             0700));
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (directory.path() + ":" + path).c_str(), 1);

  const auto told = surroundings_of({{"SLURM_JOB_ID", "17"}, {"PATH", path}}).ends_at;
  ASSERT_TRUE(io::write_file(directory / "squeue", "#!/bin/sh\necho N/A\n", 0700));
  const auto untold = surroundings_of({{"SLURM_JOB_ID", "17"}, {"PATH", path}}).ends_at;

  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(told, WallTime(1'800'000'001s));
  EXPECT_FALSE(untold);
}

}  // namespace
}  // namespace berth::target
