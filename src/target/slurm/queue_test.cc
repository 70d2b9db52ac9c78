// SPDX-License-Identifier: Apache-2.0
#include "target/slurm/queue.h"

#include <gtest/gtest.h>

namespace berth::target::slurm {
namespace {

constexpr std::string_view kPrefix = "berth:i1:lab:";

std::vector<ObservedNode> seen_in(std::string_view text) {
  const auto jobs = parse_queue(text);
  EXPECT_TRUE(jobs) << jobs.error().message;
  return jobs ? nodes_among(*jobs, kPrefix) : std::vector<ObservedNode>();
}

TEST(SlurmQueue, FindsOurNodesAmongOthersJobs) {
  const auto seen = seen_in(
      "7|RUNNING|train|None\n"
      "8|RUNNING|berth:i1:lab:n1|None\n"
      "9|RUNNING|berth:i2:lab:n1|None\n"
      "10|RUNNING|berth:i1:other:n1|None\n"
      "11_[1-9%2]|PENDING|a|b|c\n");

  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].id.text, "n1");
  EXPECT_EQ(seen[0].liveness, Liveness::Running);
  EXPECT_EQ(seen[0].note, "");
}

TEST(SlurmQueue, SaysWhyANodeIsPendingOrGone) {
  const auto seen = seen_in(
      "1|PENDING|berth:i1:lab:a|QOSMaxNodePerUserLimit\n"
      "2|TIMEOUT|berth:i1:lab:b|TimeLimit\n"
      "3|CANCELLED|berth:i1:lab:c|None\n");

  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].note, "QOSMaxNodePerUserLimit");
  EXPECT_EQ(seen[1].liveness, Liveness::Gone);
  EXPECT_EQ(seen[1].note, "TIMEOUT (TimeLimit)");
  EXPECT_EQ(seen[2].note, "CANCELLED");
}

TEST(SlurmQueue, ANodeWithSeveralJobsIsListedOnceAndThereIfOneOfThemIs) {
  const auto seen = seen_in(
      "3|PENDING|berth:i1:lab:n1|Dependency\n"
      "2|RUNNING|berth:i1:lab:n1|None\n"
      "1|FAILED|berth:i1:lab:n1|NonZeroExitCode\n");

  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].liveness, Liveness::Running);
}

TEST(SlurmQueue, OnlyWhatHasCertainlyEndedIsGone) {
  for (const char* state : {"COMPLETING", "SUSPENDED", "STAGE_OUT", "A_STATE_OF_A_LATER_SLURM"}) {
    EXPECT_EQ(liveness_of(state), Liveness::Running) << state;
  }
  for (const char* state : {"PENDING", "CONFIGURING", "REQUEUED"}) {
    EXPECT_EQ(liveness_of(state), Liveness::Pending) << state;
  }
  for (const char* state : {"COMPLETED", "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY"}) {
    EXPECT_EQ(liveness_of(state), Liveness::Gone) << state;
  }
}

TEST(SlurmQueue, RubbishIsAnErrorAndNotAnEmptyQueue) {
  for (const char* text :
       {"hello\n", "1|RUNNING|berth:i1:lab:n1\n", "|RUNNING|x|None\n", "x|RUNNING|x|None\n",
        "1||x|None\n", "1|running|x|None\n", "\x01\x02\n", "1|RUNNING|a|None\nslurm: oops\n"}) {
    const auto jobs = parse_queue(text);
    ASSERT_FALSE(jobs) << text;
    EXPECT_EQ(jobs.error().code, Code::Unavailable);
  }
  EXPECT_TRUE(parse_queue("")->empty());
}

TEST(SlurmQueue, ATagWhoseNodeIsNoNameIsNotOurs) {
  EXPECT_TRUE(seen_in("1|RUNNING|berth:i1:lab:../x|None\n2|RUNNING|berth:i1:lab:|None\n").empty());
}

}  // namespace
}  // namespace berth::target::slurm
