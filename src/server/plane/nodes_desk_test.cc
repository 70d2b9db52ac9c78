// SPDX-License-Identifier: Apache-2.0
#include "server/plane/nodes_desk.h"

#include <gtest/gtest.h>

#include "server/plane/plane_fixture.h"

namespace berth::server {
namespace {

using namespace std::chrono_literals;
using model::JobStatus;
using NodesDeskTest = PlaneTest;

TEST_F(NodesDeskTest, AnAttemptOfADeletedJobIsNotTakenForOneOfAnotherOfThatName) {
  const model::JobKey key = running("a");
  const NodesDesk::Held old{key, 1, plane.state().jobs.at(key).fence};
  plane.nodes.job_ended({"local"}, old, {}, {});
  store.complete();
  ASSERT_TRUE(plane.jobs.remove(key));
  store.complete();
  ASSERT_TRUE(submit("a"));
  store.complete();
  ASSERT_EQ(plane.jobs.find(key)->attempt, 1);

  world.stopped.clear();
  join({old});
  EXPECT_EQ(world.stopped, Names{"a"}) << "the old one is nobody's";
  plane.nodes.job_ended({"local"}, old, {.exit_code = 3}, {});
  store.complete();
  EXPECT_EQ(status("a"), JobStatus::Starting);
  plane.nodes.job_ended({"local"}, {key, 1, plane.state().jobs.at(key).fence}, {}, {});
  store.complete();
  EXPECT_EQ(status("a"), JobStatus::Completed);
}

TEST_F(NodesDeskTest, ANodeOfAnEarlierVersionReportsWithoutAFence) {
  const model::JobKey key = running("a");
  ASSERT_NE(plane.state().jobs.at(key).fence, "");
  plane.nodes.job_ended({"local"}, {key, 1}, {}, {});
  store.complete();
  EXPECT_EQ(status("a"), JobStatus::Completed);
}

TEST_F(NodesDeskTest, AnEndThatCouldNotBeRecordedIsTakenWhenItIsReportedAgain) {
  const model::JobKey key = running("a");
  plane.nodes.job_ended({"local"}, {key, 1}, {}, {});
  store.fail_all({Code::OutOfSpace, "disk full"});
  EXPECT_EQ(world.forgotten, Names{});
  EXPECT_EQ(status("a"), JobStatus::Running);

  join({{key, 1}});
  plane.nodes.job_ended({"local"}, {key, 1}, {}, {});
  store.complete();

  EXPECT_EQ(world.forgotten, Names{"a"});
  EXPECT_EQ(status("a"), JobStatus::Completed);
}

TEST_F(NodesDeskTest, AJobThatWasOverBeforeItsNodeSaidThatItRanHasAStartAllTheSame) {
  EXPECT_TRUE(submit("quick"));
  store.complete();
  join();
  const model::JobKey key{workspace, "quick"};
  clock.advance(5s);
  const WallTime began = clock.now().wall - Duration(3);

  plane.nodes.job_began({"local"}, {key, 1}, began);
  plane.nodes.job_ended({"local"}, {key, 1}, {}, {});
  store.complete();

  EXPECT_EQ(status("quick"), JobStatus::Completed);
  EXPECT_EQ(plane.jobs.find(key)->started_at, began);
  EXPECT_EQ(plane.jobs.find(key)->ended_at, clock.now().wall);
}

TEST_F(NodesDeskTest, ANodeThatWorksAheadIsSentMoreAndMayGiveItBack) {
  for (const char* const name : {"a", "b", "c"}) EXPECT_TRUE(submit(name));
  store.complete();
  join();
  EXPECT_EQ(world.launched, (Names{"a", "b"}));

  plane.nodes.works_ahead({"local"}, 1);
  store.complete();
  EXPECT_EQ(world.launched, (Names{"a", "b", "c"}));

  plane.nodes.works_ahead({"local"}, 0);
  plane.nodes.job_returned({"local"}, {{workspace, "c"}, 1});
  store.complete();
  EXPECT_EQ(status("c"), JobStatus::Queued);

  plane.nodes.job_ended({"local"}, {{workspace, "a"}, 1}, {}, {});
  store.complete();
  EXPECT_EQ(world.launched, (Names{"a", "b", "c", "c"}));
  EXPECT_EQ(plane.jobs.find({workspace, "c"})->attempt, 2);
}

TEST_F(NodesDeskTest, AJobThatIsGivenBackWhileItIsCancelledIsOver) {
  EXPECT_TRUE(submit("a"));
  store.complete();
  join();
  const model::JobKey key{workspace, "a"};
  ASSERT_TRUE(plane.jobs.cancel(key));
  store.complete();

  plane.nodes.job_returned({"local"}, {key, 1});
  store.complete();

  EXPECT_EQ(status("a"), JobStatus::Canceled);
}

TEST_F(NodesDeskTest, ANodeThatComesBackIsSentWhatItShouldHave) {
  ASSERT_TRUE(submit("a"));
  store.complete();
  join();
  world.launched.clear();

  join();

  EXPECT_EQ(world.launched, Names{"a"});
}

TEST_F(NodesDeskTest, ABegunJobThatItsNodeNoLongerHasIsLost) {
  running("a");

  join();

  EXPECT_EQ(status("a"), JobStatus::Failed);
  EXPECT_EQ(plane.jobs.find({workspace, "a"})->error->code, "Lost");
}

TEST_F(NodesDeskTest, ANodeIsToldToStopWhatItShouldNotHave) {
  running("a");

  join({{{workspace, "a"}, 1}, {{workspace, "ghost"}, 3}});

  EXPECT_EQ(world.stopped, Names{"ghost"});
}

TEST_F(NodesDeskTest, ReportsOfAnOlderAttemptAreRefusedAndForgotten) {
  const model::JobKey key = running("a");

  plane.nodes.job_ended({"local"}, {key, 0}, {.exit_code = 1}, {});
  store.complete();

  EXPECT_EQ(status("a"), JobStatus::Running);
  EXPECT_EQ(world.forgotten, Names{"a"});
}

TEST_F(NodesDeskTest, ANamedOutputIsRegisteredWhenTheJobCompletes) {
  model::Job job = draft("a");
  job.spec.edit().outputs["fitted"] = {.asset_name = "fitted-data"};
  ASSERT_TRUE(plane.jobs.submit(job));
  store.complete();
  join();
  plane.nodes.job_ended({"local"}, {job.key, 1}, {}, {});
  store.complete();

  const auto asset = *store.asset(workspace, model::AssetKind::Data, "fitted-data", "1");
  ASSERT_TRUE(asset);
  EXPECT_EQ(asset->body.at("dataType").as_string(), "uri_folder");
}

}  // namespace
}  // namespace berth::server
