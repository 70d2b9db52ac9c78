// SPDX-License-Identifier: Apache-2.0
#include "core/rules/retention.h"

#include <gtest/gtest.h>

namespace berth::core {
namespace {

using model::JobStatus;
using model::Retention;
using std::chrono::hours;

const WallTime kNow{hours(1000)};

model::Job over(JobStatus status, int hours_ago) {
  model::Job job{.key = {{"w"}, "train"}, .status = status};
  job.ended_at = kNow - hours(hours_ago);
  return job;
}

TEST(Retention, WithoutARuleNothingIsEverDue) {
  EXPECT_FALSE(due_before({}, kNow));
  EXPECT_EQ(fate_of({}, over(JobStatus::Completed, 900), kNow), Fate::Keep);
}

TEST(Retention, AJobGoesWhenItsTimeIsOver) {
  const Retention rule{.keep_jobs = hours(10)};
  EXPECT_EQ(due_before(rule, kNow), kNow - hours(10));
  EXPECT_EQ(fate_of(rule, over(JobStatus::Completed, 11), kNow), Fate::Delete);
  EXPECT_EQ(fate_of(rule, over(JobStatus::Failed, 11), kNow), Fate::Delete);
  EXPECT_EQ(fate_of(rule, over(JobStatus::Completed, 9), kNow), Fate::Keep);
}

TEST(Retention, FailedJobsHaveARuleOfTheirOwn) {
  const Retention rule{.keep_jobs = hours(100), .keep_failed = hours(10)};
  EXPECT_EQ(due_before(rule, kNow), kNow - hours(10));
  EXPECT_EQ(fate_of(rule, over(JobStatus::Failed, 11), kNow), Fate::Delete);
  EXPECT_EQ(fate_of(rule, over(JobStatus::Canceled, 11), kNow), Fate::Delete);
  EXPECT_EQ(fate_of(rule, over(JobStatus::Completed, 11), kNow), Fate::Keep);
  const Retention longer{.keep_jobs = hours(10), .keep_failed = hours(100)};
  EXPECT_EQ(fate_of(longer, over(JobStatus::Failed, 11), kNow), Fate::Keep);
}

TEST(Retention, LogsMayGoBeforeTheirJobs) {
  const Retention rule{.keep_jobs = hours(100), .keep_logs = hours(10)};
  EXPECT_EQ(fate_of(rule, over(JobStatus::Completed, 11), kNow), Fate::DropLogs);
  EXPECT_EQ(fate_of(rule, over(JobStatus::Completed, 101), kNow), Fate::Delete);
}

TEST(Retention, WhatIsNotOverOrTaggedStays) {
  const Retention rule{.keep_jobs = hours(1), .keep_failed = hours(1), .keep_logs = hours(1)};
  for (const JobStatus status : {JobStatus::Queued, JobStatus::Running, JobStatus::Finalizing}) {
    EXPECT_EQ(fate_of(rule, over(status, 900), kNow), Fate::Keep);
  }
  model::Job kept = over(JobStatus::Completed, 900);
  kept.tags[model::kKeepTag] = "";
  EXPECT_EQ(fate_of(rule, kept, kNow), Fate::Keep);
  kept.tags[model::kKeepTag] = "false";
  EXPECT_EQ(fate_of(rule, kept, kNow), Fate::Delete);
}

TEST(Retention, ARuleIsAPositiveTime) {
  EXPECT_TRUE(check_retention({.keep_jobs = std::chrono::seconds(1)}));
  EXPECT_EQ(check_retention({.keep_logs = std::chrono::seconds(0)}).error().target, "keepLogs");
  EXPECT_FALSE(check_retention({.keep_failed = std::chrono::seconds(-1)}));
  EXPECT_FALSE(check_retention({.keep_jobs = std::chrono::seconds(INT64_MAX)}));
}

TEST(Reader, IsAJobThatIsNotOverAndNamesWhatTheOtherLeft) {
  const model::JobKey train{{"w"}, "train"};
  const auto reader = [&](const std::string& uri, JobStatus status, const char* workspace = "w") {
    State state;
    model::Job job{.key = {{workspace}, "score"}, .status = status};
    job.spec.edit().inputs["in"].uri = uri;
    state.jobs.emplace(job.key, job);
    return reader_of(state, train).has_value();
  };
  EXPECT_TRUE(reader("azureml://jobs/train/outputs/model/paths/", JobStatus::Queued));
  EXPECT_TRUE(reader("azureml://datastores/workspaceblobstore/paths/azureml/train/model/",
                     JobStatus::Running));
  EXPECT_FALSE(reader("azureml://jobs/train-2/outputs/model/paths/", JobStatus::Queued));
  EXPECT_FALSE(reader("azureml://jobs/train/outputs/model/paths/", JobStatus::Completed));
  EXPECT_FALSE(reader("azureml://jobs/train/outputs/model/paths/", JobStatus::Queued, "v"));
  EXPECT_FALSE(reader("azureml:train:1", JobStatus::Queued));
}

}  // namespace
}  // namespace berth::core
