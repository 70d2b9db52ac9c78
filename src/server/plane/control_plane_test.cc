// SPDX-License-Identifier: Apache-2.0
#include "server/plane/control_plane.h"

#include <gtest/gtest.h>

#include "server/plane/fake_effects.h"
#include "store/fake_store.h"

namespace berth::server {
namespace {

using namespace std::chrono_literals;
using model::JobStatus;

/// Writes down what the control plane does to the world.
class Recorder final : public Effects {
 public:
  void launch(const model::Job& job, const model::Node&) override {
    launched.push_back(job.key.name);
  }
  void go(const model::Job& job, const model::NodeId&) override { gone.push_back(job.key.name); }
  void stop(const wire::node::AttemptRef& attempt, const model::NodeId&) override {
    stopped.push_back(attempt.job.name);
  }
  void forget(const wire::node::AttemptRef& attempt, const model::NodeId&) override {
    forgotten.push_back(attempt.job.name);
  }
  void start_node(const model::Node& node) override { started.push_back(node.id.text); }
  void dismiss_node(const model::NodeId& node) override { dismissed.push_back(node.text); }
  void attempt_taken(const model::JobKey& job, int) override { taken.push_back(job.name); }
  void job_changed(const model::JobKey&) override {}
  void resynchronise() override { ++resynchronised; }

  std::vector<std::string> launched, stopped, forgotten, started, dismissed, gone, taken;
  int resynchronised = 0;
};

using Names = std::vector<std::string>;

class ControlPlaneTest : public testing::Test {
 protected:
  ControlPlaneTest() {
    EXPECT_TRUE(plane.start());
    store.complete();
    workspace = plane.state().workspaces.begin()->first;
  }

  model::Job draft(const std::string& name) const {
    model::Job job{.key = {workspace, name}};
    job.spec.command = "true";
    return job;
  }

  Result<ControlPlane::Submitted> submit(const std::string& name) {
    return plane.submit(draft(name));
  }

  void join(const std::vector<ControlPlane::Held>& held = {}) {
    EXPECT_TRUE(plane.node_joined({"local"}, {.slots = 2, .work_root = "/work-root"}, held));
    store.complete();
  }

  /// A job on a connected node, launched.
  model::JobKey running(const std::string& name) {
    EXPECT_TRUE(submit(name));
    store.complete();
    join();
    plane.job_advanced({"local"}, {{workspace, name}, 1}, JobStatus::Running);
    store.complete();
    return {workspace, name};
  }

  JobStatus status(const std::string& name) { return plane.job({workspace, name})->status; }

  SimClock clock;
  store::FakeStore store;
  Recorder world;
  ControlPlane plane{store, world, clock, {.settings = {.local_slots = 2}, .node_idle = 60s}};
  model::WorkspaceId workspace;
};

TEST_F(ControlPlaneTest, NothingLeavesBeforeTheCommit) {
  ASSERT_TRUE(submit("a"));
  bool answered = false;
  plane.when_durable([&](const Status& status) { answered = status.has_value(); });

  EXPECT_FALSE(answered);
  EXPECT_EQ(world.started, Names{});

  store.complete();

  EXPECT_TRUE(answered);
  EXPECT_EQ(world.started, Names{"local"});
}

TEST_F(ControlPlaneTest, AFailedCommitNeverHappened) {
  ASSERT_TRUE(submit("a"));
  Code answer = Code::Internal;
  plane.when_durable([&](const Status& status) { answer = status.error().code; });

  store.fail_all({Code::OutOfSpace, "disk full"});

  EXPECT_EQ(answer, Code::OutOfSpace);
  EXPECT_EQ(plane.job({workspace, "a"}).error().code, Code::NotFound);
  EXPECT_EQ(world.started, Names{});
  EXPECT_EQ(world.resynchronised, 1);
  core::check_invariants(plane.state());
}

TEST_F(ControlPlaneTest, AnAttemptOfADeletedJobIsNotTakenForOneOfAnotherOfThatName) {
  const model::JobKey key = running("a");
  const ControlPlane::Held old{key, 1, plane.state().jobs.at(key).fence};
  plane.job_ended({"local"}, old, {}, {});
  store.complete();
  ASSERT_TRUE(plane.delete_job(key));
  store.complete();
  ASSERT_TRUE(submit("a"));
  store.complete();
  ASSERT_EQ(plane.job(key)->attempt, 1);

  world.stopped.clear();
  join({old});
  EXPECT_EQ(world.stopped, Names{"a"}) << "the old one is nobody's";
  plane.job_ended({"local"}, old, {.exit_code = 3}, {});
  store.complete();
  EXPECT_EQ(status("a"), JobStatus::Starting);
  plane.job_ended({"local"}, {key, 1, plane.state().jobs.at(key).fence}, {}, {});
  store.complete();
  EXPECT_EQ(status("a"), JobStatus::Completed);
}

TEST_F(ControlPlaneTest, ANodeOfAnEarlierVersionReportsWithoutAFence) {
  const model::JobKey key = running("a");
  ASSERT_NE(plane.state().jobs.at(key).fence, "");
  plane.job_ended({"local"}, {key, 1}, {}, {});
  store.complete();
  EXPECT_EQ(status("a"), JobStatus::Completed);
}

TEST_F(ControlPlaneTest, ALaunchIsNotMadeForAnAttemptThatIsNotOnDisk) {
  ASSERT_TRUE(submit("a"));
  store.complete();
  // The node comes back once more and returns what it was to run, while the disk is slow.
  ASSERT_TRUE(plane.node_joined({"local"}, {.slots = 2}, {}));
  store.complete();
  ASSERT_EQ(world.launched, Names{"a"});
  ASSERT_TRUE(plane.node_joined({"local"}, {.slots = 2}, {}));
  plane.job_returned({"local"}, {{workspace, "a"}, 1});
  ASSERT_EQ(plane.job({workspace, "a"})->attempt, 2);

  store.complete_next();
  EXPECT_EQ(world.launched, Names{"a"}) << "attempt 2 is not on disk yet";
  store.complete();
  EXPECT_EQ(world.launched, (Names{"a", "a"}));
}

TEST(ControlPlaneStart, WhatAFullDiskKeptFromBeingMadeIsMadeLater) {
  SimClock clock;
  store::FakeStore store;
  NoEffects effects;
  ControlPlane plane(store, effects, clock, {});
  ASSERT_TRUE(plane.start());
  store.fail_all({Code::OutOfSpace, "disk full"});
  ASSERT_TRUE(plane.state().sites.empty());

  plane.tick();
  store.complete();
  EXPECT_TRUE(plane.state().sites.contains("local"));
  EXPECT_EQ(store.all<model::Workspace>().size(), 1u);
}

TEST_F(ControlPlaneTest, NothingIsAcknowledgedOnTopOfAFailedCommit) {
  ASSERT_TRUE(submit("a"));
  ASSERT_TRUE(submit("b"));

  store.fail_next({Code::OutOfSpace, "disk full"});
  ASSERT_TRUE(submit("c"));
  Code answer = Code::Internal;
  plane.when_durable(
      [&](const Status& status) { answer = status ? Code::Conflict : status.error().code; });
  store.fail_all({Code::OutOfSpace, "disk full"});

  EXPECT_EQ(answer, Code::OutOfSpace);
  EXPECT_TRUE(plane.state().jobs.empty());
}

TEST_F(ControlPlaneTest, WorkGoesOnAfterAFailedCommit) {
  ASSERT_TRUE(submit("a"));
  store.fail_all({Code::OutOfSpace, "disk full"});

  ASSERT_TRUE(submit("a"));
  store.complete();
  join();

  EXPECT_EQ(world.launched, Names{"a"});
}

TEST_F(ControlPlaneTest, AnEndThatCouldNotBeRecordedIsTakenWhenItIsReportedAgain) {
  const model::JobKey key = running("a");
  plane.job_ended({"local"}, {key, 1}, {}, {});
  store.fail_all({Code::OutOfSpace, "disk full"});
  EXPECT_EQ(world.forgotten, Names{});
  EXPECT_EQ(status("a"), JobStatus::Running);

  join({{key, 1}});
  plane.job_ended({"local"}, {key, 1}, {}, {});
  store.complete();

  EXPECT_EQ(world.forgotten, Names{"a"});
  EXPECT_EQ(status("a"), JobStatus::Completed);
}

TEST_F(ControlPlaneTest, AJobThatWasOverBeforeItsNodeSaidThatItRanHasAStartAllTheSame) {
  EXPECT_TRUE(submit("quick"));
  store.complete();
  join();
  const model::JobKey key{workspace, "quick"};
  clock.advance(5s);
  const WallTime began = clock.now().wall - Duration(3);

  plane.job_began({"local"}, {key, 1}, began);
  plane.job_ended({"local"}, {key, 1}, {}, {});
  store.complete();

  EXPECT_EQ(status("quick"), JobStatus::Completed);
  EXPECT_EQ(plane.job(key)->started_at, began);
  EXPECT_EQ(plane.job(key)->ended_at, clock.now().wall);
}

TEST_F(ControlPlaneTest, ANodeThatWorksAheadIsSentMoreAndMayGiveItBack) {
  for (const char* const name : {"a", "b", "c"}) EXPECT_TRUE(submit(name));
  store.complete();
  join();
  EXPECT_EQ(world.launched, (Names{"a", "b"}));

  plane.node_works_ahead({"local"}, 1);
  store.complete();
  EXPECT_EQ(world.launched, (Names{"a", "b", "c"}));

  plane.node_works_ahead({"local"}, 0);
  plane.job_returned({"local"}, {{workspace, "c"}, 1});
  store.complete();
  EXPECT_EQ(status("c"), JobStatus::Queued);

  plane.job_ended({"local"}, {{workspace, "a"}, 1}, {}, {});
  store.complete();
  EXPECT_EQ(world.launched, (Names{"a", "b", "c", "c"}));
  EXPECT_EQ(plane.job({workspace, "c"})->attempt, 2);
}

TEST_F(ControlPlaneTest, AJobThatIsGivenBackWhileItIsCancelledIsOver) {
  EXPECT_TRUE(submit("a"));
  store.complete();
  join();
  const model::JobKey key{workspace, "a"};
  ASSERT_TRUE(plane.cancel(key));
  store.complete();

  plane.job_returned({"local"}, {key, 1});
  store.complete();

  EXPECT_EQ(status("a"), JobStatus::Canceled);
}

TEST_F(ControlPlaneTest, RepeatingASubmitReturnsTheSameJob) {
  ASSERT_TRUE(submit("a"));
  const auto again = submit("a");

  ASSERT_TRUE(again);
  EXPECT_FALSE(again->made);
}

TEST_F(ControlPlaneTest, TheSameNameForOtherWorkIsAConflict) {
  ASSERT_TRUE(submit("a"));
  model::Job other = draft("a");
  other.spec.command = "false";

  EXPECT_EQ(plane.submit(other).error().code, Code::Conflict);
}

TEST_F(ControlPlaneTest, LabelsOfAFinishedJobMayChangeAndItsPropertiesOnlyGrow) {
  const model::JobKey key = running("a");
  plane.job_ended({"local"}, {key, 1}, {}, {});
  store.complete();
  model::Job labelled = draft("a");
  labelled.tags["kept"] = "yes";
  labelled.properties["p"] = "1";
  ASSERT_TRUE(plane.submit(labelled));
  store.complete();

  EXPECT_EQ(plane.job(key)->tags.at("kept"), "yes");
  EXPECT_TRUE(plane.state().jobs.empty());
  labelled.properties["p"] = "2";
  EXPECT_EQ(plane.submit(labelled).error().code, Code::Conflict);
}

TEST_F(ControlPlaneTest, CancellingAQueuedJobEndsItAtOnce) {
  ASSERT_TRUE(submit("a"));

  EXPECT_EQ(plane.cancel({workspace, "a"})->status, JobStatus::Canceled);
  store.complete();
  EXPECT_EQ(status("a"), JobStatus::Canceled);
}

TEST_F(ControlPlaneTest, CancellingARunningJobStopsItAfterTheCommit) {
  const model::JobKey key = running("a");

  ASSERT_TRUE(plane.cancel(key));
  EXPECT_EQ(world.stopped, Names{});
  store.complete();

  EXPECT_EQ(world.stopped, Names{"a"});
  EXPECT_EQ(status("a"), JobStatus::CancelRequested);
  plane.job_ended({"local"}, {key, 1}, {.ending = model::Ending::Stopped}, {});
  store.complete();
  EXPECT_EQ(status("a"), JobStatus::Canceled);
}

TEST_F(ControlPlaneTest, ANodeThatComesBackIsSentWhatItShouldHave) {
  ASSERT_TRUE(submit("a"));
  store.complete();
  join();
  world.launched.clear();

  join();

  EXPECT_EQ(world.launched, Names{"a"});
}

TEST_F(ControlPlaneTest, ABegunJobThatItsNodeNoLongerHasIsLost) {
  running("a");

  join();

  EXPECT_EQ(status("a"), JobStatus::Failed);
  EXPECT_EQ(plane.job({workspace, "a"})->error->code, "Lost");
}

TEST_F(ControlPlaneTest, ANodeIsToldToStopWhatItShouldNotHave) {
  running("a");

  join({{{workspace, "a"}, 1}, {{workspace, "ghost"}, 3}});

  EXPECT_EQ(world.stopped, Names{"ghost"});
}

TEST_F(ControlPlaneTest, ReportsOfAnOlderAttemptAreRefusedAndForgotten) {
  const model::JobKey key = running("a");

  plane.job_ended({"local"}, {key, 0}, {.exit_code = 1}, {});
  store.complete();

  EXPECT_EQ(status("a"), JobStatus::Running);
  EXPECT_EQ(world.forgotten, Names{"a"});
}

TEST_F(ControlPlaneTest, ANamedOutputIsRegisteredWhenTheJobCompletes) {
  model::Job job = draft("a");
  job.spec.outputs["fitted"] = {.asset_name = "fitted-data"};
  ASSERT_TRUE(plane.submit(job));
  store.complete();
  join();
  plane.job_ended({"local"}, {job.key, 1}, {}, {});
  store.complete();

  const auto asset = *store.asset(workspace, model::AssetKind::Data, "fitted-data", "1");
  ASSERT_TRUE(asset);
  EXPECT_EQ(asset->body.at("dataType").as_string(), "uri_folder");
}

TEST_F(ControlPlaneTest, AnIdleNodeIsLetGo) {
  const model::JobKey key = running("a");
  plane.job_ended({"local"}, {key, 1}, {}, {});
  store.complete();
  plane.tick();
  clock.advance(59s);
  plane.tick();
  store.complete();
  EXPECT_EQ(world.dismissed, Names{});

  clock.advance(1s);
  plane.tick();
  store.complete();
  EXPECT_EQ(world.dismissed, Names{}) << "for a moment it can be called back";
  plane.tick();
  clock.advance(1s);
  plane.tick();
  store.complete();

  EXPECT_EQ(world.dismissed, Names{"local"});
}

TEST_F(ControlPlaneTest, ANewJobCallsALeavingNodeBack) {
  const model::JobKey key = running("a");
  plane.job_ended({"local"}, {key, 1}, {}, {});
  clock.advance(60s);
  plane.tick();
  store.complete();
  ASSERT_EQ(plane.state().nodes.at({"local"}).status, model::NodeStatus::Leaving);

  ASSERT_TRUE(submit("b"));
  store.complete();

  EXPECT_EQ(world.launched, (Names{"a", "b"}));
  EXPECT_EQ(world.dismissed, Names{});
}

TEST_F(ControlPlaneTest, ARestartKeepsWhatIsLive) {
  running("a");

  Recorder after;
  ControlPlane restarted(store, after, clock, {.settings = {.local_slots = 2}});
  ASSERT_TRUE(restarted.start());
  store.complete();
  EXPECT_EQ(restarted.state().nodes.at({"local"}).status, model::NodeStatus::Detached);
  ASSERT_TRUE(restarted.node_joined({"local"}, {.slots = 2, .work_root = "/work-root"},
                                    {{{workspace, "a"}, 1}}));
  store.complete();

  EXPECT_EQ(restarted.job({workspace, "a"})->status, JobStatus::Running);
  EXPECT_EQ(after.launched, Names{"a"});
}

TEST_F(ControlPlaneTest, AJobWithAMissingInputIsRefusedByName) {
  model::Job job = draft("a");
  job.spec.inputs["rows"] = {.type = model::DataType::UriFile, .uri = "azureml:rows:1"};

  const auto refused = plane.submit(job);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().target, "properties.inputs.rows");
  EXPECT_EQ(plane.job(job.key).error().code, Code::NotFound);
}

}  // namespace
}  // namespace berth::server
