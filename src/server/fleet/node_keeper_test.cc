// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/node_keeper.h"

#include <gtest/gtest.h>

#include "core/rules/compute_rules.h"
#include "server/plane/control_plane.h"
#include "store/fake_store.h"
#include "target/fake/fake_provider.h"

namespace berth::server {
namespace {

using namespace std::chrono_literals;
using model::JobStatus;
using model::NodeId;
using model::NodeStatus;
using target::Liveness;

/// Hands what the control plane decides about nodes to the keeper.
class NodeEffects final : public Effects {
 public:
  void launch(const model::Job&, const model::Node&) override {}
  void go(const model::Job&, const model::NodeId&) override {}
  void stop(const wire::node::AttemptRef&, const NodeId&) override {}
  void forget(const wire::node::AttemptRef&, const NodeId&) override {}
  void start_node(const model::Node& node) override { keeper->start(node); }
  void dismiss_node(const NodeId& node) override { keeper->dismissed(node); }
  void attempt_taken(const model::JobKey&, int) override {}
  void job_changed(const model::JobKey&) override {}
  void resynchronise() override {}

  NodeKeeper* keeper = nullptr;
};

/// A cluster 'pool' of at most one node on the site 'far', whose nodes hold leases.
class NodeKeeperTest : public testing::Test {
 protected:
  NodeKeeperTest() {
    effects.keeper = &keeper;
    keeper.attach(plane.ledger, plane.nodes, "https://here", "/ca.pem");
    EXPECT_TRUE(plane.start());
    EXPECT_TRUE(plane.computes.put_site({.name = "far", .provider = model::ProviderKind::Slurm}));
    workspace = plane.state().workspaces.begin()->first;
    EXPECT_TRUE(plane.computes.put(
        {.key = {workspace, "pool"},
         .name = "pool",
         .location = "far",
         .kind = model::Cluster{.size = "Standard_DS3_v2", .scale = {.max_nodes = 1}}}));
    store.complete();
  }

  void submit(const std::string& name) {
    model::Job job{.key = {workspace, name}};
    command_of(job.spec.edit()).command = "true";
    job.spec.edit().compute = "pool";
    ASSERT_TRUE(plane.jobs.submit(job));
    store.complete();
  }
  /// Lets so much time pass, in steps in which everybody looks.
  void pass(Duration time) {
    for (Duration step(0); step < time; step += 500ms) {
      clock.advance(500ms);
      plane.tick();
      keeper.reconcile();
      store.complete();
    }
  }
  void join(const std::string& node) {
    connected.insert({node});
    (void)keeper.renew({node});
    EXPECT_TRUE(plane.nodes.joined({node}, {.work_root = "/w"}, {}));
    store.complete();
  }
  void lose_connection(const std::string& node) {
    connected.erase({node});
    plane.nodes.detached({node});
    store.complete();
  }
  int starts(const std::string& node) {
    const auto found = nodes->nodes.find({node});
    return found == nodes->nodes.end() ? 0 : found->second.starts;
  }
  const model::Node& node(const std::string& name) { return plane.state().nodes.at({name}); }
  JobStatus status(const std::string& name) { return plane.jobs.find({workspace, name})->status; }

  SimClock clock;
  store::FakeStore store;
  NodeEffects effects;
  std::shared_ptr<target::fake::FakeNodes> nodes = std::make_shared<target::fake::FakeNodes>();
  Providers providers{
      [this](const model::Site&) { return std::make_unique<target::fake::FakeProvider>(nodes); },
      [] { return std::make_unique<io::InlineOffload>(); }};
  Signer signer{"0123456789abcdef0123456789abcdef"};
  std::set<NodeId> connected;
  NodeKeeper keeper{{.providers = providers,
                     .signer = signer,
                     .clock = clock,
                     .lease = 10s,
                     .is_connected = [this](const NodeId& id) { return connected.contains(id); }}};
  Duration since_boot{0};
  ControlPlane plane{store, effects, clock, {.settings = {.sizes = model::built_in_sizes()}}};
  model::WorkspaceId workspace;
};

TEST_F(NodeKeeperTest, StartsWhatIsAskedForOnceAndSaysWhereTheServerIs) {
  submit("a");
  pass(5s);

  EXPECT_EQ(starts("pool-1"), 1);
  EXPECT_EQ(nodes->nodes[{"pool-1"}].spec.server_url, "https://here");
  EXPECT_EQ(nodes->nodes[{"pool-1"}].spec.ca_file, "/ca.pem");
  EXPECT_EQ(node("pool-1").status, NodeStatus::Preparing);
}

TEST_F(NodeKeeperTest, AStartThatFailsIsTriedAgainEverLater) {
  nodes->next_failure = Error{Code::Unavailable, "sbatch: try later"};
  submit("a");
  EXPECT_EQ(node("pool-1").start_error, "sbatch: try later");
  Duration waited(0);
  while (starts("pool-1") == 0 && waited < 60s) {
    pass(500ms);
    waited += 500ms;
  }

  EXPECT_EQ(starts("pool-1"), 1);
  EXPECT_GE(waited, 1s);
  join("pool-1");
  EXPECT_EQ(node("pool-1").start_failures, 0);
  EXPECT_EQ(status("a"), JobStatus::Starting);
}

TEST_F(NodeKeeperTest, AStartThatActedAndThenFailedIsFoundAndNotRepeated) {
  submit("a");
  // What a lost answer looks like: the site has it, and the server was told that it has not.
  plane.nodes.start_failed({"pool-1"}, "timed out");
  store.complete();
  ASSERT_EQ(node("pool-1").status, NodeStatus::Requested);
  pass(10s);

  EXPECT_EQ(starts("pool-1"), 1);
  EXPECT_EQ(node("pool-1").status, NodeStatus::Preparing);
}

TEST_F(NodeKeeperTest, ANodeThatEndsBeforeItConnectsIsStartedAgainAndTheClusterSaysWhy) {
  submit("a");
  pass(1s);
  nodes->nodes[{"pool-1"}].liveness = Liveness::Gone;
  pass(3s);
  EXPECT_NE(core::find_compute(plane.state(), workspace, "pool")
                ->start_error.find("ended before it connected"),
            std::string::npos);
  pass(5s);
  EXPECT_EQ(starts("pool-1"), 2);
}

TEST_F(NodeKeeperTest, WorkIsGivenToOthersOnlyWhenTheLeaseIsOver) {
  submit("a");
  join("pool-1");
  ASSERT_EQ(status("a"), JobStatus::Starting);
  lose_connection("pool-1");
  nodes->nodes[{"pool-1"}].liveness = Liveness::Gone;  // Even if its site has seen it go.

  pass(10s);
  EXPECT_EQ(status("a"), JobStatus::Starting);
  EXPECT_TRUE(plane.state().nodes.contains({"pool-1"}));

  pass(5s);
  EXPECT_EQ(status("a"), JobStatus::Queued);
  EXPECT_FALSE(plane.state().nodes.contains({"pool-1"}));
  EXPECT_EQ(starts("pool-2"), 1);
}

TEST_F(NodeKeeperTest, ANodeThatComesBackWithinItsLeaseKeepsItsWork) {
  submit("a");
  join("pool-1");
  lose_connection("pool-1");
  pass(8s);
  connected.insert({"pool-1"});
  (void)keeper.renew({"pool-1"});
  EXPECT_TRUE(plane.nodes.joined({"pool-1"}, {}, {{{workspace, "a"}, 1}}));
  store.complete();
  pass(30s);

  EXPECT_EQ(status("a"), JobStatus::Starting);
  EXPECT_EQ(plane.jobs.find({workspace, "a"})->attempt, 1);
}

/// A server that comes after one that has said good-bye, and knows only what was written down.
class AfterGoodByeTest : public NodeKeeperTest {
 protected:
  /// How long the job is left where it was.
  Duration waits_for(const core::NodeLeaseExtended& lease) {
    submit("a");
    join("pool-1");
    plane.nodes.extend_lease(lease);
    lose_connection("pool-1");
    NodeEffects after;
    ControlPlane restarted(store, after, clock, {.settings = {.sizes = model::built_in_sizes()}});
    NodeKeeper next({.providers = providers,
                     .signer = signer,
                     .clock = clock,
                     .lease = 10s,
                     .lease_while_stopped = 60s,
                     .boot_clock = {"this", [this] { return since_boot; }},
                     .is_connected = [](const NodeId&) { return false; }});
    after.keeper = &next;
    next.attach(restarted.ledger, restarted.nodes, "https://here", "/ca.pem");
    EXPECT_TRUE(restarted.start());
    Duration waited(0);
    for (; waited < 10min; waited += 1s) {
      if (restarted.jobs.find({workspace, "a"})->status == JobStatus::Queued) break;
      clock.advance(1s);
      since_boot += 1s;
      next.reconcile();
      store.complete();
    }
    return waited;
  }
};

TEST_F(AfterGoodByeTest, ALeaseGivenAtTheServersGoodByeIsWaitedFor) {
  const Duration waited =
      waits_for({.node = {"pool-1"}, .until = clock.now().wall + 60s, .until_since_boot = 60s});
  EXPECT_GE(waited, 60s);
  EXPECT_LE(waited, 70s);
}

TEST_F(AfterGoodByeTest, AClockThatJumpedForwardDoesNotShortenIt) {
  const Duration waited = waits_for({.node = {"pool-1"},
                                     .until = clock.now().wall - 24h,
                                     .until_since_boot = 60s,
                                     .boot = "this"});
  EXPECT_GE(waited, 60s);
  EXPECT_LE(waited, 70s);
}

TEST_F(AfterGoodByeTest, AClockThatJumpedBackWhileTheMachineWasRestartedDoesNotLengthenIt) {
  const Duration waited = waits_for({.node = {"pool-1"},
                                     .until = clock.now().wall + 24h,
                                     .until_since_boot = 24h,
                                     .boot = "the one before"});
  EXPECT_GE(waited, 60s);
  EXPECT_LE(waited, 70s);
}

TEST_F(NodeKeeperTest, ANodeThatSaysThatItLeavesIsGivenNothingMoreAndReplaced) {
  submit("a");
  join("pool-1");
  ASSERT_EQ(status("a"), JobStatus::Starting);
  keeper.withdrew({"pool-1"});
  plane.nodes.withdrew({"pool-1"});
  store.complete();
  EXPECT_EQ(status("a"), JobStatus::Starting) << "nobody knows yet what became of it";

  plane.nodes.job_ended({"pool-1"}, {{workspace, "a"}, 1}, {.ending = model::Ending::Lost}, {});
  store.complete();
  EXPECT_EQ(status("a"), JobStatus::Queued);
  EXPECT_EQ(plane.jobs.find({workspace, "a"})->attempt, 1);
  lose_connection("pool-1");
  nodes->nodes[{"pool-1"}].liveness = Liveness::Gone;
  pass(5s);

  EXPECT_FALSE(plane.state().nodes.contains({"pool-1"}));
  EXPECT_EQ(starts("pool-2"), 1);
}

TEST_F(NodeKeeperTest, ANodeToldToLeaveCountsUntilItsSiteHasSeenItGo) {
  submit("a");
  join("pool-1");
  plane.nodes.job_ended({"pool-1"}, {{workspace, "a"}, 1}, {}, {});
  store.complete();
  pass(122s);
  EXPECT_TRUE(plane.state().nodes.at({"pool-1"}).is_dismissed);
  lose_connection("pool-1");
  pass(5s);
  EXPECT_TRUE(plane.state().nodes.contains({"pool-1"}));
  EXPECT_EQ(nodes->nodes[{"pool-1"}].liveness, Liveness::Running) << "ended while it tidies up";

  nodes->nodes[{"pool-1"}].liveness = Liveness::Gone;
  pass(5s);
  EXPECT_FALSE(plane.state().nodes.contains({"pool-1"}));
}

TEST_F(NodeKeeperTest, ANodeThatHangsUpAndDoesNotGoIsEnded) {
  submit("a");
  join("pool-1");
  plane.nodes.job_ended({"pool-1"}, {{workspace, "a"}, 1}, {}, {});
  store.complete();
  pass(122s);
  lose_connection("pool-1");
  pass(25s);

  EXPECT_EQ(nodes->nodes[{"pool-1"}].liveness, Liveness::Gone);
  EXPECT_FALSE(plane.state().nodes.contains({"pool-1"}));
}

TEST_F(NodeKeeperTest, ANodeThatIsNotWantedBeforeItConnectedIsEndedAtOnce) {
  submit("a");
  pass(1s);
  ASSERT_EQ(node("pool-1").status, NodeStatus::Preparing);
  ASSERT_TRUE(plane.jobs.cancel({workspace, "a"}));
  store.complete();
  pass(5s);

  EXPECT_EQ(nodes->nodes[{"pool-1"}].liveness, Liveness::Gone);
  EXPECT_FALSE(plane.state().nodes.contains({"pool-1"}));
}

TEST_F(NodeKeeperTest, ANodeThatDoesNotGoIsEnded) {
  submit("a");
  join("pool-1");
  plane.nodes.job_ended({"pool-1"}, {{workspace, "a"}, 1}, {}, {});
  store.complete();
  pass(150s);  // It stays connected and does not listen.
  EXPECT_EQ(nodes->nodes[{"pool-1"}].liveness, Liveness::Gone);
}

TEST_F(NodeKeeperTest, ANodeOfOursThatNobodyKnowsOfIsEnded) {
  nodes->nodes[{"pool-77"}] = {.liveness = Liveness::Running, .starts = 1};
  submit("a");
  pass(5s);
  EXPECT_EQ(nodes->nodes[{"pool-77"}].liveness, Liveness::Gone);
  EXPECT_EQ(nodes->nodes[{"pool-1"}].liveness, Liveness::Running);
}

TEST_F(NodeKeeperTest, ANodeThatAppearsLateAtASiteWhereAllSeemsWellIsFound) {
  pass(5s);
  nodes->nodes[{"pool-1"}] = {.liveness = Liveness::Running, .starts = 1};
  pass(70s);
  EXPECT_EQ(nodes->nodes[{"pool-1"}].liveness, Liveness::Gone);
}

TEST_F(NodeKeeperTest, ANodeIsNotEndedBeforeTheEndOfItsWorkIsOnDisk) {
  submit("a");
  join("pool-1");
  plane.nodes.job_ended({"pool-1"}, {{workspace, "a"}, 1}, {}, {});
  connected.erase({"pool-1"});
  plane.nodes.detached({"pool-1"});
  clock.advance(60s);  // Its lease is over as well.
  keeper.reconcile();
  EXPECT_EQ(nodes->nodes[{"pool-1"}].liveness, Liveness::Running);

  store.complete();
  EXPECT_EQ(nodes->nodes[{"pool-1"}].liveness, Liveness::Gone);
}

TEST_F(NodeKeeperTest, ASiteThatCannotBeAskedChangesNothing) {
  submit("a");
  join("pool-1");
  lose_connection("pool-1");
  for (int round = 0; round < 5; ++round) {
    nodes->next_failure = Error{Code::Unavailable, "slurmctld does not answer"};
    pass(2s);
  }
  EXPECT_EQ(status("a"), JobStatus::Starting);
}

}  // namespace
}  // namespace berth::server
