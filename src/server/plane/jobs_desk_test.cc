// SPDX-License-Identifier: Apache-2.0
#include "server/plane/jobs_desk.h"

#include <gtest/gtest.h>

#include "server/plane/plane_fixture.h"

namespace berth::server {
namespace {

using model::JobStatus;
using JobsDeskTest = PlaneTest;

TEST_F(JobsDeskTest, RepeatingASubmitReturnsTheSameJob) {
  ASSERT_TRUE(submit("a"));
  const auto again = submit("a");

  ASSERT_TRUE(again);
  EXPECT_FALSE(again->made);
}

TEST_F(JobsDeskTest, TheSameNameForOtherWorkIsAConflict) {
  ASSERT_TRUE(submit("a"));
  model::Job other = draft("a");
  command_of(other.spec.edit()).command = "false";

  EXPECT_EQ(plane.jobs.submit(other).error().code, Code::Conflict);
}

TEST_F(JobsDeskTest, LabelsOfAFinishedJobMayChangeAndItsPropertiesOnlyGrow) {
  const model::JobKey key = running("a");
  plane.nodes.job_ended({"local"}, {key, 1}, {}, {});
  store.complete();
  model::Job labelled = draft("a");
  labelled.tags["kept"] = "yes";
  labelled.properties["p"] = "1";
  ASSERT_TRUE(plane.jobs.submit(labelled));
  store.complete();

  EXPECT_EQ(plane.jobs.find(key)->tags.at("kept"), "yes");
  EXPECT_TRUE(plane.state().jobs.empty());
  labelled.properties["p"] = "2";
  EXPECT_EQ(plane.jobs.submit(labelled).error().code, Code::Conflict);
}

TEST_F(JobsDeskTest, CancellingAQueuedJobEndsItAtOnce) {
  ASSERT_TRUE(submit("a"));

  EXPECT_EQ(plane.jobs.cancel({workspace, "a"})->status, JobStatus::Canceled);
  store.complete();
  EXPECT_EQ(status("a"), JobStatus::Canceled);
}

TEST_F(JobsDeskTest, CancellingARunningJobStopsItAfterTheCommit) {
  const model::JobKey key = running("a");

  ASSERT_TRUE(plane.jobs.cancel(key));
  EXPECT_EQ(world.stopped, Names{});
  store.complete();

  EXPECT_EQ(world.stopped, Names{"a"});
  EXPECT_EQ(status("a"), JobStatus::CancelRequested);
  plane.nodes.job_ended({"local"}, {key, 1}, {.ending = model::Ending::Stopped}, {});
  store.complete();
  EXPECT_EQ(status("a"), JobStatus::Canceled);
}

TEST_F(JobsDeskTest, AJobWithAMissingInputIsRefusedByName) {
  model::Job job = draft("a");
  job.spec.edit().inputs["rows"] = {.type = model::DataType::UriFile, .uri = "azureml:rows:1"};

  const auto refused = plane.jobs.submit(job);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().target, "properties.inputs.rows");
  EXPECT_EQ(plane.jobs.find(job.key).error().code, Code::NotFound);
}

TEST_F(JobsDeskTest, ARemovedJobIsGoneAtOnceAndFromTheDiskWithTheCommit) {
  const model::JobKey key = running("a");
  plane.nodes.job_ended({"local"}, {key, 1}, {}, {});
  store.complete();

  ASSERT_TRUE(plane.jobs.remove(key));
  EXPECT_EQ(plane.jobs.find(key).error().code, Code::NotFound);
  EXPECT_TRUE(plane.jobs.find_recorded(key));

  store.complete();
  EXPECT_EQ(plane.jobs.find_recorded(key).error().code, Code::NotFound);
}

TEST_F(JobsDeskTest, ARemovalThatCouldNotBeRecordedLeavesTheJob) {
  const model::JobKey key = running("a");
  plane.nodes.job_ended({"local"}, {key, 1}, {}, {});
  store.complete();

  ASSERT_TRUE(plane.jobs.remove(key));
  store.fail_all({Code::OutOfSpace, "disk full"});
  EXPECT_TRUE(plane.jobs.find(key));

  ASSERT_TRUE(plane.jobs.remove(key)) << "it can be tried again";
  store.complete();
  EXPECT_EQ(plane.jobs.find(key).error().code, Code::NotFound);
}

}  // namespace
}  // namespace berth::server
