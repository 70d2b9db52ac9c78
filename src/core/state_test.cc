// SPDX-License-Identifier: Apache-2.0
#include "core/state.h"

#include <gtest/gtest.h>

#include "core/sample.h"

namespace berth::core {
namespace {

using model::Ending;
using model::JobStatus;
using model::NodeStatus;
using sample::at;
using sample::key;

/// One node with two slots, and job "j" on it, in its first attempt.
class StateTest : public testing::Test {
 protected:
  StateTest() {
    sample::join(state, "n", 2);
    sample::submit(state, "j", {.timeout = std::chrono::seconds(60)});
    sample::place(state, "j", "n");
  }
  ~StateTest() override { check_invariants(state); }

  const model::Job& job(const std::string& name = "j") { return state.jobs.at(key(name)); }

  Touched advance(JobStatus status, int attempt = 1, int second = 2) {
    return apply_event(state, JobAdvanced{.job = key("j"),
                                          .attempt = attempt,
                                          .node = {"n"},
                                          .status = status,
                                          .at = at(second)});
  }
  Touched end(model::Outcome outcome, int attempt = 1) {
    return apply_event(
        state,
        JobEnded{
            .job = key("j"), .attempt = attempt, .node = {"n"}, .outcome = outcome, .at = at(9)});
  }
  Touched cancel(const std::string& name = "j") {
    return apply_event(state, JobCancelRequested{.job = key(name), .at = at(5)});
  }

  State state;
};

TEST_F(StateTest, ASubmittedJobIsQueuedWhateverItSaidOfItself) {
  apply_event(state, JobSubmitted{{.key = key("k"),
                                   .sequence = 1000,
                                   .status = JobStatus::Running,
                                   .attempt = 7,
                                   .holding = model::Members{{{.node = {"x"}}}}}});
  EXPECT_EQ(job("k").status, JobStatus::Queued);
  EXPECT_EQ(job("k").attempt, 0);
  EXPECT_TRUE(members_of(job("k")).empty());
}

TEST_F(StateTest, ASecondSubmitOfANameTouchesNothing) {
  const Touched touched = apply_event(state, JobSubmitted{{.key = key("j"), .sequence = 1000}});
  EXPECT_TRUE(touched.of<model::Job>().empty());
  EXPECT_EQ(job().status, JobStatus::Starting);
}

TEST_F(StateTest, APlacedJobStartsItsNextAttemptOnTheNode) {
  EXPECT_EQ(job().status, JobStatus::Starting);
  EXPECT_EQ(job().attempt, 1);
  EXPECT_EQ(model::head_node(job()).text, "n");
  ASSERT_EQ(jobs_on(state, {"n"}).size(), 1u);
  EXPECT_EQ(jobs_on(state, {"n"})[0], &job());
}

TEST_F(StateTest, AJobIsPlacedOnlyOnceAndOnlyOnANodeThatExists) {
  sample::submit(state, "k");
  EXPECT_TRUE(
      apply_event(state, JobPlaced{.job = key("j"), .nodes = {{"n"}}}).of<model::Job>().empty());
  EXPECT_TRUE(
      apply_event(state, JobPlaced{.job = key("k"), .nodes = {{"gone"}}}).of<model::Job>().empty());
  EXPECT_EQ(job().attempt, 1);
}

TEST_F(StateTest, AJobThatItsNodeGivesBackIsQueuedAndItsNextAttemptIsAnother) {
  EXPECT_TRUE(
      apply_event(state, JobReturned{.job = key("j"), .attempt = 2, .node = {"n"}, .at = at(3)})
          .of<model::Job>()
          .empty());

  apply_event(state, JobReturned{.job = key("j"), .attempt = 1, .node = {"n"}, .at = at(3)});

  EXPECT_EQ(job().status, JobStatus::Queued);
  EXPECT_TRUE(jobs_on(state, {"n"}).empty());
  sample::place(state, "j", "n");
  EXPECT_EQ(job().attempt, 2);
}

TEST_F(StateTest, AJobThatWasBegunCannotBeGivenBack) {
  advance(JobStatus::Running);

  const Touched touched =
      apply_event(state, JobReturned{.job = key("j"), .attempt = 1, .node = {"n"}});

  EXPECT_TRUE(touched.of<model::Job>().empty());
  EXPECT_EQ(job().status, JobStatus::Running);
}

TEST_F(StateTest, ReportsMoveAJobForwardOnly) {
  advance(JobStatus::Running, 1, 3);
  EXPECT_EQ(job().status, JobStatus::Running);
  EXPECT_EQ(job().started_at, at(3));
  EXPECT_EQ(job().modified_at, at(3));

  EXPECT_TRUE(advance(JobStatus::Preparing).of<model::Job>().empty());
  EXPECT_TRUE(advance(JobStatus::Running, 1, 4).of<model::Job>().empty());
  EXPECT_EQ(job().status, JobStatus::Running);
  EXPECT_EQ(job().started_at, at(3));

  advance(JobStatus::Finalizing);
  EXPECT_EQ(job().status, JobStatus::Finalizing);
}

TEST_F(StateTest, AReportCannotSayThatAJobIsOverOrWaits) {
  for (const JobStatus status : {JobStatus::Completed, JobStatus::Queued, JobStatus::Starting}) {
    EXPECT_TRUE(advance(status).of<model::Job>().empty());
  }
  EXPECT_EQ(job().status, JobStatus::Starting);
}

TEST_F(StateTest, ReportsOfAnotherAttemptChangeNothing) {
  EXPECT_TRUE(advance(JobStatus::Running, 2).of<model::Job>().empty());
  EXPECT_TRUE(end({}, 0).of<model::Job>().empty());
  EXPECT_EQ(job().status, JobStatus::Starting);
}

TEST_F(StateTest, TheFirstEndingCounts) {
  end({.ending = Ending::Exited, .exit_code = 3});
  EXPECT_TRUE(end({}).of<model::Job>().empty());
  EXPECT_TRUE(cancel().of<model::Job>().empty());
  EXPECT_TRUE(advance(JobStatus::Running).of<model::Job>().empty());
  EXPECT_EQ(job().status, JobStatus::Failed);
}

TEST_F(StateTest, ACompletedJobLetsGoOfItsNode) {
  advance(JobStatus::Running);
  end({});
  EXPECT_EQ(job().status, JobStatus::Completed);
  EXPECT_FALSE(job().error);
  EXPECT_EQ(job().outcome, model::Outcome{});
  EXPECT_EQ(job().ended_at, at(9));
  EXPECT_TRUE(members_of(job()).empty());
  EXPECT_TRUE(jobs_on(state, {"n"}).empty());
}

TEST_F(StateTest, AQueuedJobIsCanceledAtOnce) {
  sample::submit(state, "k");
  cancel("k");
  EXPECT_EQ(job("k").status, JobStatus::Canceled);
  EXPECT_EQ(job("k").ended_at, at(5));
  EXPECT_FALSE(job("k").outcome);
  EXPECT_EQ(state.queued, 0u);
}

TEST_F(StateTest, ARunningJobStaysCancelRequestedUntilItsNodeSaysItIsOver) {
  cancel();
  EXPECT_EQ(job().status, JobStatus::CancelRequested);
  EXPECT_TRUE(cancel().of<model::Job>().empty());
  advance(JobStatus::Running);
  EXPECT_EQ(job().status, JobStatus::CancelRequested);
  EXPECT_TRUE(job().started_at);

  end({.ending = Ending::Stopped});
  EXPECT_EQ(job().status, JobStatus::Canceled);
  EXPECT_FALSE(job().error);
}

TEST_F(StateTest, AJobThatFinishedBeforeTheCancelReachedItKeepsItsOwnEnding) {
  cancel();
  end({.ending = Ending::Exited, .exit_code = 0});
  EXPECT_EQ(job().status, JobStatus::Completed);
}

TEST_F(StateTest, JobsOfANodeThatIsGoneAreLost) {
  sample::submit(state, "k");
  sample::place(state, "k", "n");
  cancel("k");
  const Touched touched = apply_event(state, NodeGone{.node = {"n"}, .at = at(7)});

  EXPECT_EQ(touched.of<model::Job>(), (std::set{key("j"), key("k")}));
  EXPECT_EQ(touched.of<model::Node>(), (std::set{model::NodeId{"n"}}));
  EXPECT_EQ(job().status, JobStatus::Failed);
  EXPECT_EQ(job().error->code, "Lost");
  EXPECT_EQ(job().error->message, "node 'n' lost the attempt: the node is gone");
  EXPECT_EQ(job("k").status, JobStatus::Canceled);
  EXPECT_TRUE(state.nodes.empty());
}

TEST_F(StateTest, ADetachedNodeKeepsItsJobs) {
  apply_event(state, NodeDetached{.node = {"n"}});
  EXPECT_EQ(state.nodes.at({"n"}).status, NodeStatus::Detached);
  EXPECT_EQ(job().status, JobStatus::Starting);
  apply_event(state, NodeJoined{.node = {"n"}, .slots = 3, .work_root = "/other"});
  EXPECT_EQ(state.nodes.at({"n"}).status, NodeStatus::Ready);
  EXPECT_EQ(state.nodes.at({"n"}).slots, 3);
}

TEST_F(StateTest, ANodeToldToLeaveStaysLeaving) {
  apply_event(state, NodeToldToLeave{.node = {"n"}});
  apply_event(state, NodeJoined{.node = {"n"}, .slots = 2});
  apply_event(state, NodeDetached{.node = {"n"}});
  EXPECT_EQ(state.nodes.at({"n"}).status, NodeStatus::Leaving);
}

TEST_F(StateTest, NewsOfUnknownThingsTouchesNothing) {
  for (const Event& event : std::initializer_list<Event>{
           JobAdvanced{.job = key("x")}, JobEnded{.job = key("x")}, JobDeleted{.job = key("x")},
           JobRelabelled{.job = key("x")}, JobWarned{key("x"), {"w"}},
           JobCancelRequested{.job = key("x")}, NodeJoined{.node = {"x"}}, NodeGone{.node = {"x"}},
           NodeDetached{.node = {"x"}}, WorkspaceDeleted{.workspace = {"x"}}}) {
    const Touched touched = apply_event(state, event);
    EXPECT_TRUE(touched.of<model::Job>().empty() && touched.of<model::Node>().empty() &&
                touched.of<model::Workspace>().empty());
  }
}

TEST_F(StateTest, OnlyJobsThatAreOverAreForgotten) {
  sample::submit(state, "k");
  end({});
  forget_ended(state, sample::jobs({"j", "k", "unknown"}));
  EXPECT_FALSE(state.jobs.contains(key("j")));
  EXPECT_TRUE(state.jobs.contains(key("k")));
}

TEST_F(StateTest, AJobThatIsOverComesBackForAChangeOfItsLabels) {
  end({});
  const model::Job over = job();
  forget_ended(state, sample::jobs({"j"}));

  EXPECT_TRUE(apply_event(state, JobBroughtBack{over}).of<model::Job>().empty());
  apply_event(state, JobRelabelled{.job = key("j"), .display_name = "new", .at = at(9)});

  EXPECT_EQ(job().display_name, "new");
  EXPECT_EQ(job().status, over.status);
  check_invariants(state);
}

TEST_F(StateTest, OnlyAJobThatIsOverAndNotThereIsBroughtBack) {
  model::Job old = job();
  old.description = "old";
  apply_event(state, JobBroughtBack{old});
  EXPECT_EQ(job().description, "") << "it is there";
  old.key = key("other");
  apply_event(state, JobBroughtBack{old});
  EXPECT_FALSE(state.jobs.contains(old.key)) << "it is not over";
  check_invariants(state);
}

TEST_F(StateTest, WarningsAreAddedToThoseThatAJobHas) {
  EXPECT_EQ(apply_event(state, JobWarned{key("j"), {"one"}}).of<model::Job>().size(), 1u);
  apply_event(state, JobWarned{key("j"), {"two", "three"}});
  EXPECT_EQ(job().warnings, (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_TRUE(apply_event(state, JobWarned{key("j"), {}}).of<model::Job>().empty());
}

TEST_F(StateTest, AWorkspaceTakesItsJobsWithIt) {
  apply_event(state, WorkspaceMade{{.id = sample::kWorkspace}});
  apply_event(state, JobSubmitted{{.key = {{"other"}, "j"}, .sequence = 5000}});
  const Touched touched = apply_event(state, WorkspaceDeleted{sample::kWorkspace});
  EXPECT_EQ(touched.of<model::Job>(), (std::set{key("j")}));
  EXPECT_EQ(state.jobs.size(), 1u);
  EXPECT_TRUE(jobs_on(state, {"n"}).empty());
}

TEST_F(StateTest, AWorkspaceTakesEverythingThatItOwnsWithIt) {
  const model::WorkspaceId other{"other"};
  for_each_entity([&]<typename T>() {
    if constexpr (kIsOwned<EntityKey<T>>) {
      for (const model::WorkspaceId& workspace : {sample::kWorkspace, other}) {
        T thing{};
        thing.*Entity<T>::kKey = {workspace, "thing"};
        if constexpr (std::is_same_v<T, model::Job>) {
          thing.status = JobStatus::Queued;
          thing.sequence = workspace == other ? 1001 : 1002;
        }
        Entity<T>::map(state).emplace(Entity<T>::key(thing), thing);
      }
    }
  });
  rebuild_indexes(state);
  for (const model::WorkspaceId& workspace : {sample::kWorkspace, other}) {
    apply_event(state, WorkspaceMade{{.id = workspace}});
  }

  const Touched touched = apply_event(state, WorkspaceDeleted{sample::kWorkspace});

  for_each_entity([&]<typename T>() {
    if constexpr (kIsOwned<EntityKey<T>>) {
      const EntityKey<T> gone{sample::kWorkspace, "thing"};
      EXPECT_TRUE(touched.of<T>().contains(gone)) << Entity<T>::kKind;
      EXPECT_FALSE(Entity<T>::map(state).contains(gone)) << Entity<T>::kKind;
      EXPECT_TRUE(Entity<T>::map(state).contains({other, "thing"})) << Entity<T>::kKind;
    }
  });
}

TEST_F(StateTest, RelabellingChangesWhatUsersMayChange) {
  apply_event(state, JobRelabelled{.job = key("j"),
                                   .display_name = "new",
                                   .tags = {{"a", "b"}},
                                   .is_archived = true,
                                   .at = at(6)});
  EXPECT_EQ(job().display_name, "new");
  EXPECT_EQ(job().tags.at("a"), "b");
  EXPECT_TRUE(job().is_archived);
  EXPECT_EQ(job().modified_at, at(6));
  EXPECT_EQ(job().status, JobStatus::Starting);
}

TEST_F(StateTest, JobsThatAskForTheSameShareIt) {
  sample::submit(state, "k", {.priority = 3});
  sample::submit(state, "l", {.priority = 1});
  sample::submit(state, "m", {.priority = 3});

  EXPECT_TRUE(job("k").spec.is_same(job("m").spec));
  EXPECT_FALSE(job("k").spec.is_same(job("l").spec));
  EXPECT_EQ(job("l").spec->priority, 1);
}

TEST_F(StateTest, IndexesCanBeRebuiltFromTheJobs) {
  sample::submit(state, "k");
  State copy = state;
  copy.targets.clear();
  copy.held.clear();
  rebuild_indexes(copy);
  EXPECT_EQ(copy.targets, state.targets);
  EXPECT_EQ(copy.queued, state.queued);
  EXPECT_EQ(copy.held, state.held);
}

TEST(Invariants, AStaleIndexIsNoticed) {
  State state;
  sample::submit(state, "j");
  state.targets.begin()->second.line.clear();
  EXPECT_DEATH(check_invariants(state), "targets count exactly");
}

}  // namespace
}  // namespace berth::core
