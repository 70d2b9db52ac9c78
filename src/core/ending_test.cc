// SPDX-License-Identifier: Apache-2.0
#include "core/ending.h"

#include <gtest/gtest.h>

namespace berth::core {
namespace {

using model::Ending;
using model::JobStatus;

struct Case {
  model::Outcome outcome;
  JobStatus status;
  const char* code;
  const char* message;
};

TEST(Ending, IsJudgedAndSaidClearly) {
  const model::Job job{.spec = model::JobSpec{.timeout = std::chrono::seconds(60)},
                       .holding = model::Members{{{.node = {"n"}}}}};
  const Case cases[] = {
      {{.ending = Ending::Exited, .exit_code = 3},
       JobStatus::Failed,
       "ExitCode",
       "the command exited with code 3"},
      {{.ending = Ending::Signaled, .signal = 11},
       JobStatus::Failed,
       "Signal",
       "the command was ended by signal 11 (SIGSEGV)"},
      {{.ending = Ending::Signaled, .signal = 200},
       JobStatus::Failed,
       "Signal",
       "the command was ended by signal 200"},
      {{.ending = Ending::OutOfMemory, .message = "limit 1 GiB"},
       JobStatus::Failed,
       "OutOfMemory",
       "the command was killed because it ran out of memory (limit 1 GiB)"},
      {{.ending = Ending::TimedOut},
       JobStatus::Canceled,
       "Timeout",
       "the job ran longer than its limit of 60 s and was stopped"},
      {{.ending = Ending::NotStarted, .message = "input 'rows' is not there"},
       JobStatus::Failed,
       "NotStarted",
       "input 'rows' is not there"},
      {{.ending = Ending::Lost, .message = "its supervisor died"},
       JobStatus::Failed,
       "Lost",
       "node 'n' lost the attempt: its supervisor died"},
  };
  for (const Case& wanted : cases) {
    const Verdict verdict = judge(job, wanted.outcome);
    EXPECT_EQ(verdict.status, wanted.status);
    ASSERT_TRUE(verdict.error);
    EXPECT_EQ(verdict.error->code, wanted.code);
    EXPECT_EQ(verdict.error->message, wanted.message);
  }
}

TEST(Ending, AnExitWithZeroIsNoError) {
  const Verdict verdict = judge({}, {.ending = Ending::Exited, .exit_code = 0});
  EXPECT_EQ(verdict.status, JobStatus::Completed);
  EXPECT_FALSE(verdict.error);
}

TEST(Ending, AJobThatFoundNoRoomFailsForThat) {
  for (const model::Outcome& outcome :
       {model::Outcome{.exit_code = 1, .disk_full = "the disk of its node"},
        model::Outcome{.exit_code = 0, .disk_full = "the disk of its node"},
        model::Outcome{
            .ending = Ending::Signaled, .signal = 15, .disk_full = "the disk of its node"},
        model::Outcome{.ending = Ending::Undelivered, .disk_full = "the disk of its node"}}) {
    const Verdict verdict = judge({}, outcome);

    EXPECT_EQ(verdict.status, JobStatus::Failed);
    ASSERT_TRUE(verdict.error);
    EXPECT_EQ(verdict.error->code, "DiskFull");
    EXPECT_TRUE(verdict.error->message.starts_with("the disk of its node was full; "));
  }
}

TEST(Ending, ACancelledJobThatFoundNoRoomIsCanceled) {
  const Verdict verdict =
      judge({.cancel_requested = true}, {.ending = Ending::Stopped, .disk_full = "the disk"});

  EXPECT_EQ(verdict.status, JobStatus::Canceled);
}

TEST(Ending, ACanceledJobThatIsLostIsCanceled) {
  const Verdict verdict = judge({.cancel_requested = true}, {.ending = Ending::Lost});
  EXPECT_EQ(verdict.status, JobStatus::Canceled);
  EXPECT_FALSE(verdict.error);
}

}  // namespace
}  // namespace berth::core
