// SPDX-License-Identifier: Apache-2.0
// Clusters: how they grow, shrink, make room for each other and explain themselves.
#include "core/cluster_fixture.h"

namespace berth::core {
namespace {

TEST_F(ClusterTest, GrowsFromZeroToWhatItsJobsNeedAndNoFurtherThanItsMaximum) {
  sample::make_cluster(state, "c", {.max_nodes = 2});
  EXPECT_EQ(carry_out(), Names{});

  for (const char* name : {"a", "b", "d"}) sample::submit_to(state, "c", name);

  EXPECT_EQ(carry_out(), (Names{"c-1", "c-2"}));
  EXPECT_EQ(carry_out(), Names{}) << "what was asked for is not asked for again";
  join_all({"c-1", "c-2"});
  EXPECT_EQ(job("a").status, JobStatus::Starting);
  EXPECT_EQ(job("b").status, JobStatus::Starting);
  EXPECT_EQ(job("d").status, JobStatus::Queued);
}

TEST_F(ClusterTest, ANodeOfItsIsOneJobsAlone) {
  sample::make_cluster(state, "c", {.max_nodes = 1});
  for (const char* name : {"a", "b"}) sample::submit_to(state, "c", name);
  apply_event(state, NodeJoined{.node = {carry_out().front()}, .slots = 16});
  carry_out();
  EXPECT_EQ(job("b").status, JobStatus::Queued);
  end("a");
  EXPECT_EQ(nodes_of("b"), Names{"c-1"});
}

/// Two nodes, of which the first has had a row of short jobs.
class BriskClusterTest : public ClusterTest {
 protected:
  BriskClusterTest() {
    sample::make_cluster(state, "c", {.min_nodes = 2, .max_nodes = 2});
    join_all(carry_out());
    apply_event(state, NodeWorksAhead{.node = {"c-1"}, .attempts = 1});
  }
  void submit(const Names& names) {
    for (const std::string& name : names) sample::submit_to(state, "c", name);
    carry_out();
  }
};

TEST_F(BriskClusterTest, OneJobWaitsThereForAnother) {
  submit({"a", "b", "d", "e"});

  EXPECT_EQ(nodes_of("a"), Names{"c-1"});
  EXPECT_EQ(nodes_of("b"), Names{"c-2"});
  EXPECT_EQ(nodes_of("d"), Names{"c-1"});
  EXPECT_EQ(job("e").status, JobStatus::Queued);

  end("a");
  EXPECT_EQ(nodes_of("e"), Names{"c-1"});
}

TEST_F(BriskClusterTest, NobodyWaitsWhileAnotherNodeIsFree) {
  submit({"a"});
  submit({"b"});
  EXPECT_EQ(nodes_of("a"), Names{"c-1"});
  EXPECT_EQ(nodes_of("b"), Names{"c-2"});
}

TEST_F(BriskClusterTest, AGangWaitsNowhereAndNobodyWaitsWhereItIsToBegin) {
  submit({"a"});
  sample::submit_to(state, "c", "gang", 2);
  submit({"d"});
  EXPECT_EQ(job("gang").status, JobStatus::Queued);
  EXPECT_EQ(job("d").status, JobStatus::Queued) << "it would keep the gang from its node";

  end("a");
  EXPECT_EQ(nodes_of("gang"), (Names{"c-1", "c-2"}));
  EXPECT_EQ(nodes_of("d"), Names{"c-1"});
}

TEST_F(BriskClusterTest, OfAGangThatComesLaterTheSameHolds) {
  submit({"a", "b"});
  sample::submit_to(state, "c", "d");
  sample::submit_to(state, "c", "gang", 2);
  submit({"e"});
  EXPECT_EQ(nodes_of("d"), Names{"c-1"});
  EXPECT_EQ(job("e").status, JobStatus::Queued);

  end("a");
  end("b");
  EXPECT_EQ(job("e").status, JobStatus::Queued);
  end("d");
  EXPECT_EQ(nodes_of("gang").size(), 2u);
}

TEST_F(BriskClusterTest, WhatWaitsAtANodeThatIsLostIsInLineAgain) {
  submit({"a", "b", "d"});
  apply_event(state, NodeGone{{"c-1"}, at(2)});
  check_invariants(state);
  EXPECT_EQ(job("a").status, JobStatus::Queued);
  EXPECT_EQ(job("d").status, JobStatus::Queued);
}

TEST_F(BriskClusterTest, WhatIsGivenBackAsItIsTakenIsInLineAgain) {
  submit({"a", "b", "d"});
  preempt({"c-1"});
  apply_event(state, JobReturned{key("d"), job("d").attempt, {"c-1"}, at(2)});
  check_invariants(state);
  EXPECT_EQ(job("d").status, JobStatus::Queued);
}

TEST_F(BriskClusterTest, ANodeThatJoinsAgainOrTakesItBackHasNoneWait) {
  apply_event(state, NodeWorksAhead{.node = {"c-1"}, .attempts = 0});
  submit({"a", "b", "d"});
  EXPECT_EQ(job("d").status, JobStatus::Queued);
  apply_event(state, NodeWorksAhead{.node = {"c-1"}, .attempts = 1});
  join("c-1");
  carry_out();
  EXPECT_EQ(job("d").status, JobStatus::Queued);
}

TEST_F(BriskClusterTest, AnAgentOfManySlotsIsNotBelieved) {
  apply_event(state, NodeWorksAhead{.node = {"c-1"}, .attempts = 4});
  submit({"a", "b", "d"});
  EXPECT_EQ(job("d").status, JobStatus::Queued) << "it would run beside the other";
}

TEST_F(ClusterTest, KeepsItsMinimumAndLetsTheRestGoWhenTheirTimeIsOver) {
  sample::make_cluster(state, "c", {.min_nodes = 1, .max_nodes = 3, .idle_before_scale_down = 30s});
  EXPECT_EQ(carry_out(), Names{"c-1"});
  for (const char* name : {"a", "b", "d"}) sample::submit_to(state, "c", name);
  EXPECT_EQ(carry_out(), (Names{"c-2", "c-3"}));
  join_all({"c-1", "c-2", "c-3"});
  EXPECT_EQ(surplus_after(1h), Names{}) << "busy nodes stay";

  for (const char* name : {"a", "b", "d"}) end(name);

  EXPECT_EQ(surplus_after(29s), Names{});
  EXPECT_EQ(surplus_after(30s).size(), 2u);
}

TEST_F(ClusterTest, WhatIsNotWantedAnyMoreBeforeItCameNeedNotCome) {
  sample::make_cluster(state, "c", {.max_nodes = 2});
  sample::submit_to(state, "c", "a", 2);
  carry_out();
  apply_event(state, JobCancelRequested{key("a"), at(2)});
  EXPECT_EQ(surplus_after(0s), (Names{"c-1", "c-2"}));
}

TEST_F(ClusterTest, ALeavingNodeIsTakenBackUntilItHasBeenToldToGo) {
  sample::make_cluster(state, "c", {.max_nodes = 1});
  sample::submit_to(state, "c", "a");
  join_all(carry_out());
  end("a");
  apply_event(state, NodeToldToLeave{{"c-1"}});
  sample::submit_to(state, "c", "b");
  EXPECT_EQ(carry_out(), Names{});
  EXPECT_EQ(nodes_of("b"), Names{"c-1"});

  end("b");
  apply_event(state, NodeToldToLeave{{"c-1"}});
  apply_event(state, NodeDismissed{{"c-1"}});
  sample::submit_to(state, "c", "d");
  EXPECT_EQ(carry_out(), Names{"c-2"}) << "its place is free, and the one that goes stays away";
}

// ---- Gangs -------------------------------------------------------------------------------------

TEST_F(ClusterTest, AGangStartsOnAllItsNodesOrOnNone) {
  sample::make_cluster(state, "c", {.max_nodes = 3});
  sample::submit_to(state, "c", "gang", 3);
  carry_out();
  join_all({"c-1", "c-2"});
  EXPECT_EQ(job("gang").status, JobStatus::Queued);
  join_all({"c-3"});
  EXPECT_EQ(nodes_of("gang"), (Names{"c-1", "c-2", "c-3"}));
}

TEST_F(ClusterTest, ASmallJobNeverTakesANodeThatAGangBeforeItWillHave) {
  sample::make_cluster(state, "c", {.max_nodes = 3});
  sample::submit_to(state, "c", "first");
  join_all(carry_out());
  sample::submit_to(state, "c", "gang", 3);
  sample::submit_to(state, "c", "small");
  carry_out();
  join_all({"c-2", "c-3"});

  EXPECT_EQ(job("small").status, JobStatus::Queued);
  EXPECT_EQ(why("small"),
            "needs 1 node of Standard_DS3_v2; cluster 'c' has 3 of at most 3 nodes, and the idle "
            "ones are kept for a larger job that came first; 1 job is ahead of it");
  end("first");
  EXPECT_EQ(job("gang").status, JobStatus::Starting);
}

TEST_F(ClusterTest, ASmallJobUsesTheGapThatAGangLeaves) {
  sample::make_cluster(state, "c", {.max_nodes = 4});
  for (const char* name : {"x", "y"}) sample::submit_to(state, "c", name);
  join_all(carry_out());
  sample::submit_to(state, "c", "gang", 2);
  sample::submit_to(state, "c", "small");
  carry_out();
  join_all({"c-3"});
  EXPECT_EQ(job("gang").status, JobStatus::Queued);
  EXPECT_EQ(job("small").status, JobStatus::Queued);
  end("x");
  EXPECT_EQ(job("gang").status, JobStatus::Starting);
  join_all({"c-4"});
  EXPECT_EQ(job("small").status, JobStatus::Starting);
}

TEST_F(ClusterTest, AMoreUrgentJobGoesBeforeAGang) {
  sample::make_cluster(state, "c", {.max_nodes = 2});
  sample::submit_to(state, "c", "gang", 2);
  sample::submit_to(state, "c", "urgent", 1, 3);
  carry_out();
  join_all({"c-1"});
  EXPECT_EQ(job("urgent").status, JobStatus::Starting);
}

TEST_F(ClusterTest, AGangThatNoLongerFitsItsClusterBlocksNobodyAndSaysSo) {
  sample::make_cluster(state, "c", {.max_nodes = 3});
  sample::submit_to(state, "c", "gang", 3);
  sample::make_cluster(state, "c", {.max_nodes = 1});
  sample::submit_to(state, "c", "small");
  EXPECT_EQ(carry_out(), Names{"c-1"});
  join_all({"c-1"});
  EXPECT_EQ(job("small").status, JobStatus::Starting);
  EXPECT_EQ(
      why("gang"),
      "needs 3 nodes of Standard_DS3_v2; cluster 'c' has 1 of at most 1 node, so it can never "
      "start there; it would start if max_instances of 'c' were raised to 3; it is the next");
}

TEST_F(ClusterTest, TheFirstFailureOfAMemberIsTheGangsAndStopsTheRest) {
  sample::make_cluster(state, "c", {.max_nodes = 2});
  sample::submit_to(state, "c", "gang", 2);
  join_all(carry_out());
  apply_event(state, JobEnded{key("gang"), 1, {"c-2"}, {.exit_code = 7}, at(5)});
  EXPECT_EQ(job("gang").status, JobStatus::Starting) << "it is over when all of it is";
  EXPECT_EQ(members_to_stop(job("gang")), std::vector<model::NodeId>{{"c-1"}});
  apply_event(state, JobEnded{key("gang"), 1, {"c-1"}, {.exit_code = 1}, at(6)});
  EXPECT_EQ(job("gang").status, JobStatus::Failed);
  EXPECT_EQ(job("gang").error->message, "the command exited with code 7");
}

TEST_F(ClusterTest, AGangIsAsFarAsTheLastOfItsMembers) {
  sample::make_cluster(state, "c", {.max_nodes = 2});
  sample::submit_to(state, "c", "gang", 2);
  join_all(carry_out());
  const auto advance = [&](const char* node, JobStatus to) {
    apply_event(state, JobAdvanced{key("gang"), 1, {node}, to, at(2)});
  };
  advance("c-1", JobStatus::Running);
  EXPECT_EQ(job("gang").status, JobStatus::Starting);
  advance("c-2", JobStatus::Running);
  EXPECT_EQ(job("gang").status, JobStatus::Running);
}

// ---- Loss and preemption -----------------------------------------------------------------------

TEST_F(ClusterTest, AJobWhoseNodeIsLostRunsAgainElsewhere) {
  sample::make_cluster(state, "c", {.max_nodes = 2});
  sample::submit_to(state, "c", "a");
  join_all(carry_out());
  apply_event(state, NodeGone{{"c-1"}, at(9)});

  EXPECT_EQ(job("a").status, JobStatus::Queued);
  EXPECT_EQ(job("a").requeues, 1);
  join_all(carry_out());
  EXPECT_EQ(job("a").attempt, 2);
  EXPECT_EQ(nodes_of("a"), Names{"c-2"});
  EXPECT_TRUE(
      apply_event(state, JobEnded{key("a"), 1, {"c-1"}, {}, at(10)}).of<model::Job>().empty())
      << "a late report of the old attempt";
}

TEST_F(ClusterTest, AGangThatLostAMemberIsQueuedAgainWhenTheOthersHaveStopped) {
  sample::make_cluster(state, "c", {.max_nodes = 2});
  sample::submit_to(state, "c", "gang", 2);
  join_all(carry_out());
  apply_event(state, NodeGone{{"c-2"}, at(9)});
  EXPECT_EQ(job("gang").status, JobStatus::Starting);
  EXPECT_EQ(members_to_stop(job("gang")), std::vector<model::NodeId>{{"c-1"}});
  // A peer that fails because the lost one is missing does not make it the job's own failure.
  apply_event(state, JobEnded{key("gang"), 1, {"c-1"}, {.exit_code = 1}, at(10)});
  EXPECT_EQ(job("gang").status, JobStatus::Queued);
}

TEST_F(ClusterTest, AJobThatIsTakenTooOftenFails) {
  state.settings.max_requeues = 1;
  sample::make_cluster(state, "c", {.max_nodes = 1});
  sample::submit_to(state, "c", "a");
  for (int round = 0; round < 2; ++round) {
    const Names asked = carry_out();
    join_all(asked);
    apply_event(state, NodeGone{{asked.front()}, at(9)});
  }
  EXPECT_EQ(job("a").status, JobStatus::Failed);
  EXPECT_EQ(job("a").error->message,
            "node 'c-2' lost the attempt: the node is gone; it had been queued again 1 times "
            "already");
}

TEST_F(ClusterTest, AJobThatIsPreemptedTooOftenFails) {
  state.settings.max_requeues = 0;
  sample::make_cluster(state, "c", {.max_nodes = 1});
  sample::submit_to(state, "c", "a");
  join_all(carry_out());
  preempt({"c-1"});
  end("a", {.ending = Ending::Stopped});
  EXPECT_EQ(job("a").status, JobStatus::Failed);
  EXPECT_EQ(job("a").error->code, "Preempted");
}

TEST_F(ClusterTest, ACanceledJobIsNotQueuedAgain) {
  sample::make_cluster(state, "c", {.max_nodes = 1});
  sample::submit_to(state, "c", "a");
  join_all(carry_out());
  apply_event(state, JobCancelRequested{key("a"), at(3)});
  apply_event(state, NodeGone{{"c-1"}, at(9)});
  EXPECT_EQ(job("a").status, JobStatus::Canceled);
}

TEST_F(ClusterTest, ADedicatedClusterTakesTheRoomOfLowPriorityNodes) {
  state.sites["local"].capacity.nodes = 2;
  sample::make_cluster(state, "low", {.max_nodes = 2}, Tier::LowPriority);
  for (const char* name : {"l1", "l2"}) sample::submit_to(state, "low", name);
  join_all(carry_out());
  sample::make_cluster(state, "ded", {.max_nodes = 1});
  now = 5;
  sample::submit_to(state, "ded", "d");

  EXPECT_EQ(carry_out(), Names{});
  EXPECT_EQ(view("low").preempted, 1);
  EXPECT_EQ(carry_out(), Names{});
  EXPECT_EQ(view("low").preempted, 1) << "what was taken is not taken again";
  const std::string victim = status("low-1") == NodeStatus::Preempted ? "low-1" : "low-2";
  const std::string loser = jobs_on(state, {victim}).front()->key.name;
  EXPECT_TRUE(job(loser).is_yielding);
  end(loser, {.ending = Ending::Stopped});
  EXPECT_EQ(job(loser).status, JobStatus::Queued);
  apply_event(state, NodeGone{{victim}, at(6)});
  EXPECT_EQ(carry_out(), Names{"ded-3"});
}

TEST_F(ClusterTest, ALowPriorityClusterTakesNothingFromOthersThatWork) {
  state.sites["local"].capacity.nodes = 1;
  sample::make_cluster(state, "one", {.max_nodes = 1}, Tier::LowPriority);
  sample::submit_to(state, "one", "a");
  join_all(carry_out());
  sample::make_cluster(state, "two", {.max_nodes = 1}, Tier::LowPriority);
  sample::submit_to(state, "two", "b");
  carry_out();
  EXPECT_FALSE(job("a").is_yielding);
  EXPECT_EQ(view("one").preempted, 0);
}

TEST_F(ClusterTest, AnIdleNodeNobodyNeedsMakesRoomForAnyone) {
  state.sites["local"].capacity.nodes = 1;
  sample::make_cluster(state, "one", {.max_nodes = 1});
  sample::submit_to(state, "one", "a");
  join_all(carry_out());
  end("a");
  sample::make_cluster(state, "two", {.max_nodes = 1}, Tier::LowPriority);
  sample::submit_to(state, "two", "b");
  carry_out();
  EXPECT_EQ(status("one-1"), NodeStatus::Leaving);
  EXPECT_EQ(why("b"),
            "needs 1 node of Standard_DS3_v2; cluster 'two' has 0 of at most 1 node, and site "
            "'local' has no room for another: 1 of 1 nodes are in use; it would start if a node of "
            "another cluster there became free; it is the next");
}

TEST_F(ClusterTest, APreemptedJobThatFinishedFirstIsOver) {
  sample::make_cluster(state, "c", {.max_nodes = 1});
  sample::submit_to(state, "c", "a");
  join_all(carry_out());
  preempt({"c-1"});
  end("a", {.ending = Ending::Exited, .exit_code = 0});
  EXPECT_EQ(job("a").status, JobStatus::Completed);
}

TEST_F(ClusterTest, DevicesOfTheMachineAreAssignedNotShared) {
  state.sites["local"].capacity.gpus = 2;
  apply_event(
      state,
      ComputeMade{{.key = compute_key("g"),
                   .name = "g",
                   .site = "local",
                   .kind = model::Cluster{.size = "Standard_NC6", .scale = {.max_nodes = 3}}}});
  for (const char* name : {"a", "b", "d"}) sample::submit_to(state, "g", name);
  EXPECT_EQ(carry_out(), (Names{"g-1", "g-2"}));
  EXPECT_EQ(state.nodes.at({"g-1"}).gpus, std::vector<int>{0});
  EXPECT_EQ(state.nodes.at({"g-2"}).gpus, std::vector<int>{1});
  apply_event(state, NodeGone{{"g-1"}, at(2)});
  EXPECT_EQ(carry_out(), Names{"g-3"});
  EXPECT_EQ(state.nodes.at({"g-3"}).gpus, std::vector<int>{0});
}

TEST_F(ClusterTest, NoNodeOfThisMachineIsLargerThanTheMachine) {
  apply_event(state,
              ComputeMade{{.key = compute_key("big"),
                           .name = "big",
                           .site = "local",
                           .kind = model::Cluster{.size = "Standard_D64s_v3",
                                                  .scale = {.min_nodes = 1, .max_nodes = 1}}}});
  carry_out();
  EXPECT_EQ(state.nodes.at({"big-1"}).cores, 8);
  EXPECT_EQ(state.nodes.at({"big-1"}).memory_mib, 64 * 1024);
}

// ---- Time limits -------------------------------------------------------------------------------

TEST_F(ClusterTest, NoJobIsPlacedOnANodeThatWillEndFirst) {
  sample::make_cluster(state, "c", {.max_nodes = 1});
  sample::submit(state, "long", {.compute = "c", .timeout = 600s});
  carry_out();
  apply_event(state, NodeJoined{.node = {"c-1"}, .ends_at = at(300), .at = at(1)});
  carry_out();
  EXPECT_EQ(job("long").status, JobStatus::Queued);
  EXPECT_EQ(status("c-1"), NodeStatus::Leaving) << "it is of no use to what waits";

  sample::submit(state, "short", {.compute = "c", .timeout = 60s});
  apply_event(state, NodeRecalled{{"c-1"}});
  carry_out();
  EXPECT_EQ(job("short").status, JobStatus::Starting);
}

// ---- Deleting, showing, explaining -------------------------------------------------------------

TEST_F(ClusterTest, ADeletedClusterGoesWithItsLastNode) {
  sample::make_cluster(state, "c", {.min_nodes = 1, .max_nodes = 1});
  join_all(carry_out());
  apply_event(state, ComputeDeleteRequested{compute_key("c"), at(2)});
  carry_out();
  EXPECT_TRUE(state.computes.contains(compute_key("c")));
  EXPECT_EQ(surplus_after(0s), Names{"c-1"});
  apply_event(state, NodeGone{{"c-1"}, at(3)});
  carry_out();
  EXPECT_FALSE(state.computes.contains(compute_key("c")));
}

TEST_F(ClusterTest, IsShownAsItIs) {
  sample::make_cluster(state, "c", {.max_nodes = 3});
  EXPECT_TRUE(view("c").is_steady);
  for (const char* name : {"a", "b"}) sample::submit_to(state, "c", name);
  carry_out();
  EXPECT_EQ(view("c").preparing, 2);
  EXPECT_EQ(view("c").current_nodes, 0);
  EXPECT_EQ(view("c").target_nodes, 2);
  EXPECT_FALSE(view("c").is_steady);
  EXPECT_EQ(why("a"),
            "needs 1 node of Standard_DS3_v2; cluster 'c' has 2 of at most 3 nodes, growing to 2; "
            "the next nodes are expected when site 'local' has started them; it is the next");
  join_all({"c-1", "c-2"});
  EXPECT_EQ(view("c").running, 2);
  EXPECT_TRUE(view("c").is_steady);
  EXPECT_EQ(view("c").nodes[0].job, "a");
  end("a");
  EXPECT_EQ(view("c").idle, 1);
  EXPECT_TRUE(view("c").is_steady) << "an idle node has time";
}

TEST_F(ClusterTest, AStartThatFailsIsShownAndExplained) {
  sample::make_cluster(state, "c", {.max_nodes = 1});
  sample::submit_to(state, "c", "a");
  carry_out();
  for (int round = 0; round < 3; ++round) {
    apply_event(state, NodeStartFailed{{"c-1"}, "sbatch: no such partition", at(2)});
  }
  EXPECT_EQ(view("c").unusable, 1);
  EXPECT_EQ(view("c").errors, Names{"sbatch: no such partition"});
  EXPECT_EQ(why("a"),
            "needs 1 node of Standard_DS3_v2; cluster 'c' has 1 of at most 1 node, and more cannot "
            "be started: sbatch: no such partition; Berth tries again by itself; it is the next");
  join_all({"c-1"});
  EXPECT_TRUE(view("c").errors.empty());
}

TEST_F(ClusterTest, TimeOfNodesAndJobsIsWrittenDownWithItsPrice) {
  sample::make_cluster(state, "c", {.max_nodes = 1});
  sample::submit_to(state, "c", "a");
  join_all(carry_out());
  now = 61;
  const Touched ended = apply_event(state, JobEnded{key("a"), 1, {"c-1"}, {}, at(61)});
  ASSERT_EQ(ended.usage.size(), 1u);
  EXPECT_EQ(ended.usage[0].job, "a");
  EXPECT_EQ(ended.usage[0].ended_at - ended.usage[0].began_at, 60s);
  EXPECT_GT(ended.usage[0].price_per_hour, 0);
  const Touched gone = apply_event(state, NodeGone{{"c-1"}, at(181)});
  ASSERT_EQ(gone.usage.size(), 1u);
  EXPECT_EQ(gone.usage[0].job, "");
  EXPECT_EQ(gone.usage[0].ended_at - gone.usage[0].began_at, 180s);
}

}  // namespace
}  // namespace berth::core
