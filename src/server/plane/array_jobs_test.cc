// SPDX-License-Identifier: Apache-2.0
// Jobs that are made of other jobs, from their submit to their end.
#include <gtest/gtest.h>

#include "server/plane/plane_fixture.h"

namespace berth::server {
namespace {

using model::JobStatus;

class ArrayJobsTest : public PlaneTest {
 protected:
  model::Job array(const std::string& name, int last, int at_once = 0) const {
    model::Job job = draft(name);
    job.spec.edit().work = model::ArrayWork{
        .each = command_of(job.spec), .first = 1, .last = last, .at_once = at_once};
    return job;
  }

  Result<JobsDesk::Submitted> submit_array(const std::string& name, int last, int at_once = 0) {
    return plane.jobs.submit(array(name, last, at_once));
  }

  void end(const std::string& name, int exit_code = 0) {
    plane.nodes.job_ended({"local"}, {{workspace, name}, 1}, {.exit_code = exit_code}, {});
    store.complete();
  }

  Code refusal_of(const model::Job& job) {
    const auto submitted = plane.jobs.submit(job);
    return submitted ? Code::Internal : submitted.error().code;
  }
};

TEST_F(ArrayJobsTest, ItsChildrenAreMadeWithItAndRunAsOthersDo) {
  ASSERT_TRUE(submit_array("a", 3, 2));
  store.complete();
  join();

  EXPECT_EQ(world.launched, (Names{"a_1", "a_2"}));
  EXPECT_EQ(status("a"), JobStatus::Running);
  end("a_2");
  EXPECT_EQ(world.launched, (Names{"a_1", "a_2", "a_3"}));
  end("a_1");
  end("a_3");
  EXPECT_EQ(status("a"), JobStatus::Completed);
  EXPECT_TRUE(plane.state().jobs.empty());
  EXPECT_EQ(store.jobs({.workspace = workspace, .parent = "a"})->size(), 3u);
}

TEST_F(ArrayJobsTest, TheChildrenAreInTheCommitOfTheirParent) {
  ASSERT_TRUE(submit_array("a", 2));
  EXPECT_EQ(store.waiting(), 1u);
  store.complete();
  EXPECT_EQ(store.jobs({.workspace = workspace})->size(), 3u);
}

TEST_F(ArrayJobsTest, ACancelReachesTheChildrenThatRun) {
  ASSERT_TRUE(submit_array("a", 4, 2));
  store.complete();
  join();

  EXPECT_EQ(plane.jobs.cancel({workspace, "a"})->status, JobStatus::CancelRequested);
  store.complete();

  EXPECT_EQ(world.stopped, (Names{"a_1", "a_2"}));
  for (const char* child : {"a_1", "a_2"}) {
    plane.nodes.job_ended({"local"}, {{workspace, child}, 1}, {.ending = model::Ending::Stopped},
                          {});
    store.complete();
  }
  EXPECT_EQ(status("a"), JobStatus::Canceled);
  EXPECT_EQ(status("a_2"), JobStatus::Canceled);
  EXPECT_FALSE(plane.jobs.find({workspace, "a_3"}));
}

TEST_F(ArrayJobsTest, AnotherServerGoesOnWhereTheFirstWas) {
  ASSERT_TRUE(submit_array("a", 3, 1));
  store.complete();
  join();
  end("a_1");

  Recorder later;
  ControlPlane next{store, later, clock, {.settings = {.local = model::local_compute(2)}}};
  ASSERT_TRUE(next.start());
  ASSERT_TRUE(next.jobs.cancel({workspace, "a_2"}));
  store.complete();

  EXPECT_EQ(next.jobs.find({workspace, "a_2"})->status, JobStatus::CancelRequested);
  EXPECT_FALSE(next.jobs.find({workspace, "a_3"})) << "a_2 holds a node still";
  EXPECT_EQ(next.jobs.find({workspace, "a"})->status, JobStatus::Running);
}

TEST_F(ArrayJobsTest, ItsNamesAreNobodyElses) {
  ASSERT_TRUE(submit_array("a", 3, 1));
  EXPECT_EQ(refusal_of(draft("a_3")), Code::Conflict);
  model::Job stray = draft("stray");
  stray.spec.edit().parent_job_name = "a";
  EXPECT_EQ(refusal_of(stray), Code::Conflict);
  EXPECT_TRUE(submit("b_3"));

  model::Job again = *plane.jobs.find({workspace, "a_1"});
  EXPECT_FALSE(plane.jobs.submit({.key = again.key, .spec = again.spec})->made);
}

TEST_F(ArrayJobsTest, ANameThatIsTakenRefusesTheWholeArray) {
  const model::JobKey taken = running("a_2");
  EXPECT_EQ(refusal_of(array("a", 3)), Code::Conflict);
  end(taken.name);
  EXPECT_EQ(refusal_of(array("a", 3)), Code::Conflict) << "it is over and has its name";
  model::Job child = draft("child");
  child.spec.edit().parent_job_name = "p";
  ASSERT_TRUE(plane.jobs.submit(child));
  EXPECT_EQ(refusal_of(array("p", 1)), Code::Conflict);
}

TEST_F(ArrayJobsTest, ARangeThatIsNoneIsRefused) {
  EXPECT_EQ(refusal_of(array("a", 0)), Code::InvalidArgument);
  EXPECT_EQ(refusal_of(array("a", 1001)), Code::InvalidArgument);
  EXPECT_EQ(refusal_of(array("a", 3, -1)), Code::InvalidArgument);
  EXPECT_EQ(refusal_of(array(std::string(254, 'a'), 3)), Code::InvalidArgument);
}

TEST_F(ArrayJobsTest, AnOrdinaryParentIsOnlyAName) {
  model::Job child = draft("child");
  child.spec.edit().parent_job_name = "parent";
  ASSERT_TRUE(submit("parent"));
  ASSERT_TRUE(plane.jobs.submit(child));
  store.complete();
  join();
  end("parent");
  end("child");
  EXPECT_EQ(status("child"), JobStatus::Completed);
}

}  // namespace
}  // namespace berth::server
