// SPDX-License-Identifier: Apache-2.0
#include "core/schedule.h"

#include <gtest/gtest.h>

#include <random>

#include "core/sample.h"

namespace berth::core {
namespace {

using model::JobStatus;
using sample::at;
using sample::key;

std::vector<std::string> placed(const State& state) {
  std::vector<std::string> names;
  for (const JobPlaced& placement : plan(state, at(1)).place) names.push_back(placement.job.name);
  return names;
}

void carry_out(State& state) {
  const Plan next = plan(state, at(1));
  for (const model::Node& node : next.request) apply_event(state, NodeRequested{node});
  for (const JobPlaced& placement : next.place) apply_event(state, placement);
}

TEST(Schedule, ANodeThatWorksAheadHoldsMoreThanItRunsUntilItJoinsAgain) {
  State state;
  sample::join(state, "local", 1);
  for (const char* const name : {"a", "b", "c"}) sample::submit(state, name);
  apply_event(state, NodeWorksAhead{.node = {"local"}, .attempts = 1});
  EXPECT_EQ(placed(state), (std::vector<std::string>{"a", "b"}));

  apply_event(state, NodeJoined{.node = {"local"}, .slots = 1});

  EXPECT_EQ(placed(state), std::vector<std::string>{"a"});
}

TEST(Schedule, PlacesByPriorityThenAge) {
  State state;
  sample::join(state, "local", 3);
  sample::submit(state, "old", {.priority = 2});
  sample::submit(state, "low", {.priority = 1});
  sample::submit(state, "high", {.priority = 3});
  sample::submit(state, "new", {.priority = 2});

  EXPECT_EQ(placed(state), (std::vector<std::string>{"high", "old", "new"}));
}

TEST(Schedule, FillsOnlyTheFreeSlots) {
  State state;
  sample::join(state, "local", 2);
  for (const char* name : {"a", "b", "c"}) sample::submit(state, name);
  carry_out(state);

  EXPECT_TRUE(placed(state).empty());
  apply_event(state, JobEnded{.job = key("a"), .attempt = 1, .node = {"local"}});
  EXPECT_EQ(placed(state), std::vector<std::string>{"c"});
}

TEST(Schedule, PlacesNothingOnANodeThatIsNotReady) {
  State state;
  sample::submit(state, "a");
  apply_event(state, NodeRequested{{.id = {"local"}, .slots = 2}});
  EXPECT_TRUE(placed(state).empty());
  apply_event(state, NodeJoined{.node = {"local"}, .slots = 2});
  EXPECT_EQ(placed(state).size(), 1u);
  apply_event(state, NodeDetached{.node = {"local"}});
  EXPECT_TRUE(placed(state).empty());
  apply_event(state, NodeToldToLeave{.node = {"local"}});
  EXPECT_TRUE(placed(state).empty());
}

TEST(Schedule, RequestsANodeWhenWorkWaitsAndThereIsNone) {
  State state;
  state.settings.local = model::local_compute(4);
  EXPECT_TRUE(plan(state, at(1)).request.empty());
  sample::submit(state, "a");

  const Plan first = plan(state, at(1));
  ASSERT_EQ(first.request.size(), 1u);
  EXPECT_EQ(first.request[0].id.text, "local");
  EXPECT_EQ(first.request[0].target, model::TargetId{});
  EXPECT_EQ(first.request[0].slots, 4);

  apply_event(state, NodeRequested{first.request[0]});
  EXPECT_TRUE(plan(state, at(2)).request.empty());
}

TEST(Schedule, WaitsForALeavingNodeToBeGoneBeforeItRequestsTheNext) {
  State state;
  sample::join(state, "local", 2);
  apply_event(state, NodeToldToLeave{.node = {"local"}});
  apply_event(state, NodeDismissed{.node = {"local"}});
  sample::submit(state, "a");
  EXPECT_TRUE(plan(state, at(1)).request.empty());
  EXPECT_TRUE(plan(state, at(1)).recall.empty());
  apply_event(state, NodeGone{.node = {"local"}});
  EXPECT_EQ(plan(state, at(1)).request.size(), 1u);
}

TEST(Schedule, LeavesJobsOfOtherTargetsAlone) {
  State state;
  sample::join(state, "local", 2);
  sample::submit(state, "gpu", {.compute = "gpu-cluster"});
  sample::submit(state, "serverless", {.compute = "serverless"});
  sample::submit(state, "zeta", {.compute = "zeta"});
  EXPECT_EQ(placed(state), std::vector<std::string>{"serverless"});
}

TEST(Schedule, ANodeThatCameBackSmallerIsNotOverfilled) {
  State state;
  sample::join(state, "local", 2);
  for (const char* name : {"a", "b", "c"}) sample::submit(state, name);
  carry_out(state);
  apply_event(state, NodeJoined{.node = {"local"}, .slots = 1});
  EXPECT_TRUE(placed(state).empty());
  apply_event(state, JobEnded{.job = key("a"), .attempt = 1, .node = {"local"}});
  EXPECT_TRUE(placed(state).empty());
}

TEST(Explain, SaysWhatAJobWaitsFor) {
  State state;
  state.settings.local = model::local_compute(2);
  for (const char* name : {"a", "b", "c", "d", "e"}) sample::submit(state, name);
  const auto why = [&](const char* name) { return explain(state, state.jobs.at(key(name))); };

  EXPECT_EQ(why("a"), "waits for a node of 'local' with 2 slots to be started; it is the next");
  carry_out(state);
  EXPECT_EQ(why("b"), "waits for the node of 'local', which is starting; 1 job is ahead of it");
  sample::join(state, "local", 2);
  EXPECT_EQ(why("a"), "is about to start on 'local'");
  carry_out(state);
  EXPECT_EQ(why("e"), "waits for a free slot on 'local': 2 of 2 are taken; 2 jobs are ahead of it");
  EXPECT_EQ(why("a"), "is being prepared by node 'local'");
  apply_event(state, NodeDetached{.node = {"local"}});
  EXPECT_EQ(why("c"), "waits for the node of 'local' to connect again; it is the next");

  apply_event(
      state,
      JobAdvanced{.job = key("a"), .attempt = 1, .node = {"local"}, .status = JobStatus::Running});
  EXPECT_EQ(why("a"), "");
  apply_event(state, JobCancelRequested{.job = key("a")});
  EXPECT_EQ(why("a"), "is being stopped on node 'local'");
  apply_event(state, JobEnded{.job = key("a"), .attempt = 1, .node = {"local"}});
  EXPECT_EQ(why("a"), "is over");
}

Event random_event(std::mt19937& random, std::int64_t& sequence) {
  const auto pick = [&](int bound) { return std::uniform_int_distribution(0, bound - 1)(random); };
  const model::JobKey job = key("j" + std::to_string(pick(6)));
  const JobStatus reports[] = {JobStatus::Preparing, JobStatus::Running, JobStatus::Finalizing};
  switch (pick(9)) {
    case 0:
    case 1:
      return JobSubmitted{
          {.key = job, .sequence = ++sequence, .spec = model::JobSpec{.priority = 1 + pick(3)}}};
    case 2:
      return JobAdvanced{
          .job = job, .attempt = pick(3), .node = {"local"}, .status = reports[pick(3)]};
    case 3:
      return JobEnded{.job = job,
                      .attempt = pick(3),
                      .node = {"local"},
                      .outcome = {.ending = static_cast<model::Ending>(pick(8))}};
    case 4: return JobCancelRequested{.job = job};
    case 5: return NodeJoined{.node = {"local"}, .slots = 2};
    case 6: return NodeDetached{.node = {"local"}};
    case 7:
      return pick(3) == 0 ? Event(NodeGone{.node = {"local"}}) : Event(JobDeleted{.job = job});
    default: return NodeToldToLeave{.node = {"local"}};
  }
}

TEST(RandomHistories, KeepEveryInvariantAndNeverOverfillANode) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    State state;
    state.settings.local = model::local_compute(2);
    std::int64_t sequence = 0;
    for (int step = 0; step < 80; ++step) {
      const Touched touched = apply_event(state, random_event(random, sequence));
      carry_out(state);
      check_invariants(state);
      ASSERT_LE(jobs_on(state, {"local"}).size(), 2u);
      if (step % 3 == 0) forget_ended(state, touched);
    }
  }
}

// ---- Machines ----------------------------------------------------------------------------------

/// What holds for 'local' holds for any machine that is attached.
class AttachedMachine : public testing::Test {
 protected:
  AttachedMachine() {
    apply_event(state, SiteMade{{.name = "lab"}});
    apply_event(state, ComputeMade{{.key = sample::compute_key("box"),
                                    .name = "box",
                                    .site = "lab",
                                    .kind = model::Attached{.machine = "box-1", .slots = 2}}});
    for (const char* name : {"a", "b", "c"}) sample::submit_to(state, "box", name);
    for (const model::Node& node : plan(state, sample::at(1)).request) {
      apply_event(state, NodeRequested{node});
    }
  }
  ~AttachedMachine() override { check_invariants(state); }

  void join() {
    apply_event(state, NodeJoined{.node = machine, .slots = 2});
    for (const JobPlaced& placed : plan(state, sample::at(1)).place) apply_event(state, placed);
  }

  State state;
  model::NodeId machine{"box-1"};
};

TEST_F(AttachedMachine, HasOneNodeOfItsOwnNameWithSlots) {
  ASSERT_EQ(state.nodes.size(), 1u);
  EXPECT_EQ(state.nodes.at(machine).slots, 2);
  EXPECT_EQ(state.nodes.at(machine).site, "lab");
  EXPECT_EQ(state.nodes.at(machine).target, (model::TargetId{sample::compute_key("box")}));
  EXPECT_TRUE(plan(state, sample::at(1)).request.empty());
  EXPECT_TRUE(is_machine(state, machine));
  EXPECT_FALSE(is_machine(state, {"box"}));
}

TEST_F(AttachedMachine, TakesAsManyJobsAsItHasSlots) {
  join();
  EXPECT_EQ(jobs_on(state, machine).size(), 2u);
  EXPECT_EQ(explain(state, state.jobs.at(key("c"))),
            "waits for a free slot on 'box': 2 of 2 are taken; it is the next");
}

TEST_F(AttachedMachine, TakesNothingOfItsSiteAndLosesWhatItWorkedOn) {
  join();
  EXPECT_FALSE(state.site_use.contains("lab"));
  apply_event(state, NodeGone{.node = machine});
  EXPECT_EQ(state.jobs.at(key("a")).status, JobStatus::Failed);
}

TEST_F(AttachedMachine, GoesWithItsNodeWhenItIsDeleted) {
  apply_event(state, ComputeDeleteRequested{sample::compute_key("box"), sample::at(2)});
  EXPECT_TRUE(plan(state, sample::at(2)).remove.empty());
  for (const char* name : {"a", "b", "c"}) {
    apply_event(state, JobCancelRequested{.job = key(name)});
  }
  join();
  const IdleSince idle = {{machine, TimePoint()}};
  EXPECT_EQ(surplus(state, idle, std::chrono::hours(1), TimePoint()).nodes, std::vector{machine});
  apply_event(state, NodeGone{.node = machine});
  EXPECT_EQ(plan(state, sample::at(2)).remove, std::vector{sample::compute_key("box")});
  apply_event(state, ComputeGone{sample::compute_key("box")});
}

}  // namespace
}  // namespace berth::core
