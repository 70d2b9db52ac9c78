// SPDX-License-Identifier: Apache-2.0
// What the control plane does with clusters, as far as the world can see it.
#include <gtest/gtest.h>

#include "server/assets/log_blob.h"
#include "server/fleet/log_store.h"
#include "server/plane/control_plane.h"
#include "store/fake_store.h"

namespace berth::server {
namespace {

using namespace std::chrono_literals;
using model::Ending;
using model::JobStatus;
using model::NodeId;
using Names = std::vector<std::string>;

/// Writes down what happens, as "launch a pool-1".
class Diary final : public Effects {
 public:
  void launch(const model::Job& job, const model::Node& node) override {
    note("launch", job.key.name, node.id.text);
  }
  void go(const model::Job& job, const NodeId& node) override {
    note("go", job.key.name, node.text);
  }
  void stop(const wire::node::AttemptRef& attempt, const NodeId& node) override {
    note("stop", attempt.job.name, node.text);
  }
  void forget(const wire::node::AttemptRef& attempt, const NodeId& node) override {
    note("forget", attempt.job.name, node.text);
  }
  void start_node(const model::Node& node) override { note("start", node.id.text, ""); }
  void dismiss_node(const NodeId& node) override { note("dismiss", node.text, ""); }
  void attempt_taken(const model::JobKey& job, int) override { note("taken", job.name, ""); }
  void job_changed(const model::JobKey&) override {}
  void resynchronise() override {}

  /// What was written since the last look.
  Names read() { return std::exchange(entries, {}); }

 private:
  void note(const std::string& what, const std::string& whom, const std::string& where) {
    entries.push_back(what + " " + whom + (where.empty() ? "" : " " + where));
  }
  Names entries;
};

class ClusterPlaneTest : public testing::Test {
 protected:
  ClusterPlaneTest() {
    EXPECT_TRUE(plane.start());
    workspace = plane.state().workspaces.begin()->first;
    EXPECT_TRUE(plane.computes.put(
        {.key = {workspace, "pool"},
         .name = "pool",
         .kind = model::Cluster{.size = "Standard_DS3_v2", .scale = {.max_nodes = 2}}}));
    store.complete();
  }
  ~ClusterPlaneTest() override { core::check_invariants(plane.state()); }

  void submit(const std::string& name, int nodes = 1) {
    model::Job job{.key = {workspace, name}};
    command_of(job.spec.edit()).command = "true";
    job.spec.edit().compute = "pool";
    command_of(job.spec.edit()).resources.instance_count = nodes;
    ASSERT_TRUE(plane.jobs.submit(job));
    store.complete();
  }
  void join(const std::string& node, const std::vector<NodesDesk::Held>& held = {}) {
    ASSERT_TRUE(plane.nodes.joined({node}, {.work_root = "/w"}, held));
    store.complete();
  }
  void gang_of_two() {
    submit("g", 2);
    join("pool-1");
    join("pool-2");
    world.read();
  }
  void end(const std::string& name, const std::string& node, model::Outcome outcome = {},
           store::Batch more = {}) {
    plane.nodes.job_ended({node}, {{workspace, name}, plane.jobs.find({workspace, name})->attempt},
                          outcome, std::move(more));
    store.complete();
  }
  JobStatus status(const std::string& name) { return plane.jobs.find({workspace, name})->status; }
  void prepared(const std::string& node, int port) {
    plane.nodes.member_prepared({node}, {{workspace, "g"}, 1}, "127.0.0.1", port);
    store.complete();
  }

  SimClock clock;
  store::FakeStore store;
  Diary world;
  ControlPlane plane{store, world, clock, {.settings = {.sizes = model::built_in_sizes()}}};
  model::WorkspaceId workspace;
};

TEST_F(ClusterPlaneTest, NodesAreStartedWhenTheCommitIsOnDiskAndBearNewNames) {
  model::Job job{.key = {workspace, "a"}};
  command_of(job.spec.edit()).command = "true";
  job.spec.edit().compute = "POOL";
  ASSERT_TRUE(plane.jobs.submit(job));
  EXPECT_EQ(world.read(), Names{});
  store.complete();
  EXPECT_EQ(world.read(), Names{"start pool-1"});
  EXPECT_EQ(plane.jobs.find({workspace, "a"})->spec->compute, "pool");

  plane.nodes.gone({"pool-1"});
  store.complete();
  EXPECT_EQ(world.read(), Names{"start pool-2"});
}

TEST_F(ClusterPlaneTest, EveryMemberIsLaunchedAndLetGoWhenAllHavePrepared) {
  submit("g", 2);
  join("pool-1");
  world.read();
  join("pool-2");
  EXPECT_EQ(world.read(), (Names{"launch g pool-1", "launch g pool-2"}));

  prepared("pool-2", 7002);
  EXPECT_EQ(world.read(), Names{});
  prepared("pool-1", 7001);
  EXPECT_EQ(world.read(), (Names{"go g pool-1", "go g pool-2"}));
  EXPECT_EQ(members_of(*plane.jobs.find({workspace, "g"}))[1].port, 7002);
  // A member whose agent came back asks again.
  prepared("pool-2", 7002);
  EXPECT_EQ(world.read(), (Names{"go g pool-1", "go g pool-2"}));
}

TEST_F(ClusterPlaneTest, AMemberThatMissedGoIsToldAgainAlsoWhenItsPeerIsDone) {
  gang_of_two();
  prepared("pool-1", 5000);
  prepared("pool-2", 5100);
  plane.nodes.detached({"pool-2"});  // And Go with it.
  end("g", "pool-1");
  join("pool-2", {{{workspace, "g"}, 1}});
  world.read();

  prepared("pool-2", 5100);
  EXPECT_EQ(world.read(), Names{"go g pool-2"});
}

/// Its node is still stopping what the server does not know of any more.
TEST_F(ClusterPlaneTest, AMemberThatIsReturnedIsToldAgain) {
  gang_of_two();
  world.read();
  const model::Job before = *plane.jobs.find({workspace, "g"});
  plane.nodes.job_returned({"pool-2"}, {before.key, before.attempt, before.fence});
  store.complete();

  EXPECT_EQ(world.read(), Names{"launch g pool-2"});
  EXPECT_EQ(plane.jobs.find({workspace, "g"})->attempt, before.attempt);
}

TEST_F(ClusterPlaneTest, AMemberThatFailsStopsTheOthers) {
  gang_of_two();
  end("g", "pool-2", {.exit_code = 3});
  EXPECT_EQ(world.read(), (Names{"forget g pool-2", "stop g pool-1"}));
  end("g", "pool-1", {.ending = Ending::Stopped});
  EXPECT_EQ(status("g"), JobStatus::Failed);
}

TEST_F(ClusterPlaneTest, AMemberThatComesBackAfterItsPeerFailedIsStoppedAgain) {
  gang_of_two();
  plane.nodes.detached({"pool-1"});
  end("g", "pool-2", {.exit_code = 3});
  world.read();
  join("pool-1", {{{workspace, "g"}, 1}});
  EXPECT_EQ(world.read(), (Names{"launch g pool-1", "stop g pool-1"}));
}

TEST_F(ClusterPlaneTest, APreemptedJobIsStoppedQueuedAgainAndItsNodeDismissed) {
  submit("a");
  join("pool-1");
  world.read();
  ASSERT_TRUE(plane.computes.preempt_node({"pool-1"}));
  store.complete();
  EXPECT_EQ(world.read(), Names{"stop a pool-1"});

  store::Batch log;
  log.push_back(store::PutBlob{{.key = log_blob({workspace, "a"})}});
  end("a", "pool-1", {.ending = Ending::Stopped}, std::move(log));

  EXPECT_EQ(status("a"), JobStatus::Queued);
  EXPECT_FALSE(*store.blob(log_blob({workspace, "a"})));
  EXPECT_TRUE(*store.blob(attempt_log_blob({workspace, "a"}, 1))) << "its log is kept apart";
  EXPECT_EQ(world.read(), (Names{"forget a pool-1", "start pool-2"}));
  plane.tick();
  store.complete();
  EXPECT_EQ(world.read(), Names{"dismiss pool-1"});
}

TEST_F(ClusterPlaneTest, ALateReportOfATakenAttemptIsRefusedAndForgotten) {
  submit("a");
  join("pool-1");
  plane.nodes.gone({"pool-1"});
  store.complete();
  EXPECT_EQ(status("a"), JobStatus::Queued);
  world.read();

  plane.nodes.job_advanced({"pool-1"}, {{workspace, "a"}, 1}, JobStatus::Running);
  plane.nodes.job_ended({"pool-1"}, {{workspace, "a"}, 1}, {}, {});
  store.complete();

  EXPECT_EQ(status("a"), JobStatus::Queued);
  EXPECT_EQ(world.read(), Names{"forget a pool-1"});
}

TEST_F(ClusterPlaneTest, ANodeCannotReportForAJobOfAnother) {
  submit("a");
  submit("b");
  join("pool-1");
  join("pool-2");
  plane.nodes.job_ended({"pool-2"}, {{workspace, "a"}, 1}, {}, {});
  plane.nodes.job_advanced({"pool-2"}, {{workspace, "a"}, 1}, JobStatus::Running);
  store.complete();
  EXPECT_EQ(status("a"), JobStatus::Starting);
}

TEST_F(ClusterPlaneTest, ARestartKeepsClustersNodesAndGangs) {
  gang_of_two();
  Diary after;
  ControlPlane restarted(store, after, clock, {.settings = {.sizes = model::built_in_sizes()}});
  ASSERT_TRUE(restarted.start());
  store.complete();
  core::check_invariants(restarted.state());
  EXPECT_EQ(after.read(), Names{}) << "nothing is started twice";

  ASSERT_TRUE(restarted.nodes.joined({"pool-1"}, {}, {{{workspace, "g"}, 1}}));
  ASSERT_TRUE(restarted.nodes.joined({"pool-2"}, {}, {{{workspace, "g"}, 1}}));
  store.complete();
  EXPECT_EQ(after.read(), (Names{"launch g pool-1", "launch g pool-2"})) << "confirmed, not begun";
  EXPECT_EQ(restarted.jobs.find({workspace, "g"})->attempt, 1);
}

TEST_F(ClusterPlaneTest, AFailedCommitLeavesNoNodeBehind) {
  model::Job job{.key = {workspace, "a"}};
  command_of(job.spec.edit()).command = "true";
  job.spec.edit().compute = "pool";
  ASSERT_TRUE(plane.jobs.submit(job));
  store.fail_all({Code::OutOfSpace, "disk full"});
  EXPECT_EQ(world.read(), Names{});
  EXPECT_TRUE(plane.state().nodes.empty());
}

TEST_F(ClusterPlaneTest, ANodeWhoseJobEndedWithTheLossOfAnotherIsIdleFromThenOn) {
  gang_of_two();
  end("g", "pool-1");
  ASSERT_TRUE(plane.jobs.cancel({workspace, "g"}));
  plane.nodes.gone({"pool-2"});
  store.complete();
  ASSERT_EQ(status("g"), JobStatus::Canceled);
  clock.advance(121s);
  plane.tick();
  EXPECT_EQ(plane.state().nodes.at({"pool-1"}).status, model::NodeStatus::Leaving);
}

TEST_F(ClusterPlaneTest, ANodeThatWasDismissedUnheardIsToldWhenItComesBack) {
  submit("a");
  join("pool-1");
  end("a", "pool-1");
  clock.advance(121s);
  plane.tick();  // To leave; for a moment it could still be called back.
  plane.nodes.detached({"pool-1"});
  store.complete();
  ASSERT_TRUE(plane.state().nodes.at({"pool-1"}).is_dismissed);
  world.read();

  join("pool-1");
  EXPECT_EQ(world.read(), Names{"dismiss pool-1"});
}

TEST_F(ClusterPlaneTest, AWorkspaceWithAClusterIsNotDeleted) {
  const auto made = plane.workspaces.put({.name = "other"});
  ASSERT_TRUE(made);
  ASSERT_TRUE(plane.computes.put({.key = {made->id, "own"},
                                  .name = "own",
                                  .kind = model::Cluster{.size = "Standard_DS3_v2"}}));
  EXPECT_EQ(plane.workspaces.remove(made->id).error().code, Code::Conflict);
}

}  // namespace
}  // namespace berth::server
