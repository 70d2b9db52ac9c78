// SPDX-License-Identifier: Apache-2.0
// Attempts that an engine runs: what events do to them, and what is planned and said.
#include <gtest/gtest.h>

#include "core/sample.h"
#include "core/schedule.h"

namespace berth::core {
namespace {

using model::Ending;
using model::JobStatus;
using sample::at;
using sample::key;

/// A compute 'k8s' whose engine takes attempts.
class EngineRunTest : public testing::Test {
 protected:
  EngineRunTest() { make_compute({}); }
  ~EngineRunTest() override { check_invariants(state); }

  void make_compute(model::AttachedEngine engine) {
    apply_event(state,
                ComputeMade{{.key = sample::compute_key("k8s"), .name = "K8s", .kind = engine}});
  }
  void submit(const std::string& name) { sample::submit_to(state, "k8s", name); }
  Touched apply(const Event& event) {
    Touched touched = apply_event(state, event);
    check_invariants(state);
    return touched;
  }
  /// As a server does.
  void decide() {
    for (EngineRunStarted started : plan(state, at(1)).hand_over) {
      started.fence = "f" + started.job.name;
      apply(started);
    }
  }
  void run(const std::string& name, JobStatus phase) {
    apply(EngineRunAdvanced{key(name), job(name).attempt, phase, "on machine 7", at(2)});
  }
  const model::Job& job(const std::string& name) const { return state.jobs.at(key(name)); }
  bool has_run(const std::string& name) const { return engine_run_of(job(name)) != nullptr; }
  std::string why(const std::string& name) const { return explain(state, job(name)); }

  State state;
};

TEST_F(EngineRunTest, AQueuedJobIsHandedOverWithoutNodes) {
  submit("a");
  submit("b");
  EXPECT_EQ(why("a"), "is about to be handed to 'K8s'");
  decide();
  ASSERT_TRUE(has_run("a") && has_run("b"));
  EXPECT_EQ(engine_run_of(job("a"))->engine, "K8s");
  EXPECT_EQ(job("a").status, JobStatus::Starting);
  EXPECT_EQ(job("a").attempt, 1);
  EXPECT_EQ(job("a").fence, "fa");
  EXPECT_TRUE(state.nodes.empty());
  EXPECT_TRUE(plan(state, at(2)).hand_over.empty());
  EXPECT_EQ(why("a"), "is being handed to 'K8s'");
}

TEST_F(EngineRunTest, ALimitIsKeptAndExplained) {
  make_compute({.at_once = 1});
  submit("a");
  submit("b");
  decide();
  EXPECT_TRUE(has_run("a"));
  EXPECT_EQ(job("b").status, JobStatus::Queued);
  EXPECT_EQ(why("b"), "waits for 'K8s', which takes 1 job at once and has 1; it is the next");
  apply(EngineRunEnded{key("a"), 1, {.exit_code = 0}, at(3)});
  decide();
  EXPECT_TRUE(has_run("b"));
}

TEST_F(EngineRunTest, AnAttemptGoesForwardOnlyAndIsTakenOnceItWasSeen) {
  submit("a");
  decide();
  apply(EngineRunRefused{key("a"), 1, "no such place"});
  EXPECT_EQ(why("a"), "is not taken by 'K8s' so far (no such place); Berth tries again by itself");
  run("a", JobStatus::Starting);
  EXPECT_TRUE(engine_run_of(job("a"))->is_taken);
  EXPECT_EQ(why("a"), "waits in the queue of 'K8s' (on machine 7)");
  run("a", JobStatus::Preparing);
  EXPECT_EQ(why("a"), "is being prepared by 'K8s' (on machine 7)");
  run("a", JobStatus::Running);
  run("a", JobStatus::Preparing);
  EXPECT_EQ(job("a").status, JobStatus::Running);
  EXPECT_EQ(job("a").started_at, at(2));
  EXPECT_EQ(why("a"), "");
  EXPECT_TRUE(apply(EngineRunRefused{key("a"), 1, "late"}).of<model::Job>().empty());
  apply(EngineRunEnded{key("a"), 1, {.exit_code = 3}, at(3)});
  EXPECT_EQ(job("a").status, JobStatus::Failed);
  EXPECT_EQ(job("a").error->code, "ExitCode");
}

TEST_F(EngineRunTest, WhatIsLostOrStoppedByTheEngineIsQueuedAgain) {
  submit("a");
  decide();
  run("a", JobStatus::Running);
  apply(EngineRunLost{key("a"), 1, at(3)});
  EXPECT_EQ(job("a").status, JobStatus::Queued);
  EXPECT_EQ(job("a").requeue_reason, "the attempt was lost by 'K8s'");
  decide();
  EXPECT_EQ(job("a").attempt, 2);
  EXPECT_TRUE(apply(EngineRunLost{key("a"), 1, at(4)}).of<model::Job>().empty());
  apply(EngineRunEnded{key("a"), 2, {.ending = Ending::Stopped, .message = "evicted"}, at(5)});
  EXPECT_EQ(job("a").status, JobStatus::Queued);
  EXPECT_EQ(job("a").requeues, 2);
  EXPECT_EQ(job("a").requeue_reason, "the attempt was stopped by 'K8s': evicted");
}

TEST_F(EngineRunTest, AJobThatWasTakenTooOftenFails) {
  state.settings.max_requeues = 1;
  submit("a");
  submit("b");
  for (int attempt = 1; attempt <= 2; ++attempt) {
    decide();
    apply(EngineRunLost{key("a"), attempt, at(3)});
    apply(EngineRunEnded{key("b"), attempt, {.ending = Ending::Stopped}, at(3)});
  }
  EXPECT_EQ(job("a").error->code, "Lost");
  EXPECT_EQ(job("a").error->message,
            "compute 'K8s' lost the attempt: it is not there any more; it had been queued again 1 "
            "times already");
  EXPECT_EQ(job("b").error->code, "Preempted");
}

TEST_F(EngineRunTest, ACancelledJobEndsWithItsAttemptAndIsNotQueuedAgain) {
  for (const char* name : {"stopped", "lost", "faster"}) submit(name);
  decide();
  for (const char* name : {"stopped", "lost", "faster"}) {
    apply(JobCancelRequested{key(name), at(2)});
    EXPECT_EQ(job(name).status, JobStatus::CancelRequested);
    EXPECT_EQ(why(name), "is being stopped by 'K8s'");
  }
  run("faster", JobStatus::Running);
  apply(EngineRunEnded{key("stopped"), 1, {.ending = Ending::Stopped}, at(3)});
  apply(EngineRunLost{key("lost"), 1, at(3)});
  apply(EngineRunEnded{key("faster"), 1, {.exit_code = 0}, at(3)});
  EXPECT_EQ(job("stopped").status, JobStatus::Canceled);
  EXPECT_EQ(job("lost").status, JobStatus::Canceled);
  EXPECT_EQ(job("faster").status, JobStatus::Completed);
}

TEST_F(EngineRunTest, AComputeThatIsDeletedGoesWithItsLastAttempt) {
  submit("a");
  decide();
  apply(ComputeDeleteRequested{sample::compute_key("k8s"), at(2)});
  EXPECT_TRUE(plan(state, at(3)).remove.empty());
  apply(EngineRunEnded{key("a"), 1, {}, at(3)});
  EXPECT_EQ(plan(state, at(4)).remove.size(), 1u);
}

TEST_F(EngineRunTest, NoOtherComputeIsHandedAJob) {
  sample::submit(state, "a");
  EXPECT_TRUE(plan(state, at(1)).hand_over.empty());
  EXPECT_TRUE(apply(EngineRunStarted{key("a"), at(1), "f"}).of<model::Job>().empty());
}

}  // namespace
}  // namespace berth::core
