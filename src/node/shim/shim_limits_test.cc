// SPDX-License-Identifier: Apache-2.0
// What a job may use, where the kernel lets us say so.
#include "io/process/cgroup.h"
#include "node/shim/shim_fixture.h"

namespace berth::node {
namespace {

TEST_F(ShimTest, TellsRunningOutOfMemoryFromOtherKills) {
  const auto probe = io::Cgroup::make("probe-" + random_hex(6), 1u << 30);
  const bool can_limit = probe && std::ranges::any_of(probe->directories(), [](const auto& group) {
                           return ::access((group + "/memory.max").c_str(), W_OK) == 0 ||
                                  ::access((group + "/memory.limit_in_bytes").c_str(), W_OK) == 0;
                         });
  if (probe) probe->remove();
  if (!can_limit) GTEST_SKIP() << "no memory control groups for this user";
  launch.memory_limit_bytes = 64u << 20;

  const model::Outcome outcome =
      run("head -c 300000000 /dev/zero | tail | wc -c; exit ${PIPESTATUS[1]}");

  EXPECT_EQ(outcome.ending, Ending::OutOfMemory) << outcome.message << log();
  EXPECT_NE(outcome.message.find("limit of 64"), std::string::npos) << outcome.message;
}

TEST_F(ShimTest, AJobThatForksForEverHasNoMoreProcessesThanItMay) {
  const auto probe = io::Cgroup::make("probe-" + random_hex(6), std::nullopt);
  const bool can_limit = probe && probe->limit_processes(100);
  if (probe) probe->remove();
  if (!can_limit) GTEST_SKIP() << "no control groups that limit processes for this user";
  launch.process_limit = 20;

  const model::Outcome outcome =
      run("exec python3 -c \"\n"
          "import os, signal, sys\n"
          "for number in range(200):\n"
          "  try:\n"
          "    if os.fork() == 0: signal.pause()\n"
          "  except OSError: sys.exit(number)\n"
          "\"");

  EXPECT_EQ(outcome.ending, Ending::Exited) << outcome.message << log();
#ifdef __SANITIZE_THREAD__  // Threads of TSan count as well.
  EXPECT_LE(outcome.exit_code, 19);
  EXPECT_GT(outcome.exit_code, 0);
#else
  EXPECT_EQ(outcome.exit_code, 19) << "itself and 19 others";
#endif
}

TEST_F(ShimTest, AKillThatHasNothingToDoWithMemoryIsASignal) {
  launch.memory_limit_bytes = 1u << 30;

  EXPECT_EQ(run("kill -KILL $$").ending, Ending::Signaled);
}

}  // namespace
}  // namespace berth::node
