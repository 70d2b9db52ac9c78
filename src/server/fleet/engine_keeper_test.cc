// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/engine_keeper.h"

#include <gtest/gtest.h>

#include "server/plane/attempt.h"
#include "server/plane/fake_effects.h"
#include "store/fake_store.h"
#include "target/fake/fake_engine.h"

namespace berth::server {
namespace {

using namespace std::chrono_literals;
using model::AttemptRef;
using model::JobStatus;
using target::AttemptPhase;
using target::fake::FakeAttempts;

/// The fake one, whose start may act and say that it has not.
class UnsureEngine final : public target::Engine {
 public:
  UnsureEngine(std::shared_ptr<FakeAttempts> attempts, const bool& is_unsure)
      : engine_(std::move(attempts)), is_unsure_(is_unsure) {}

  std::string root_of(const AttemptRef& ref) const override { return engine_.root_of(ref); }
  Status start(const target::AttemptSpec& spec) override {
    TRY(engine_.start(spec));
    return is_unsure_ ? Status(fail(Code::Unavailable, "timed out")) : Done{};
  }
  Result<std::vector<target::ObservedAttempt>> observe() override { return engine_.observe(); }
  Result<target::LogPart> read_log(const AttemptRef& ref, std::uint64_t from) override {
    return engine_.read_log(ref, from);
  }
  Status stop(const AttemptRef& ref) override { return engine_.stop(ref); }
  Status forget(const AttemptRef& ref) override { return engine_.forget(ref); }

 private:
  target::fake::FakeEngine engine_;
  const bool& is_unsure_;
};

/// A compute 'k8s' with an engine.
class EngineKeeperTest : public testing::Test {
 protected:
  EngineKeeperTest() {
    store.all<model::Workspace>()[{"w"}] = {.id = {"w"}, .name = model::kDefaultWorkspace};
    const model::ComputeKey key{{"w"}, "k8s"};
    store.all<model::Compute>()[key] = {
        .key = key, .name = "k8s", .site = "local", .kind = model::AttachedEngine{}};
    EXPECT_TRUE(plane.start());
    store.complete();
  }

  void submit(const std::string& name, boost::json::value distribution = nullptr) {
    model::Job job{.key = {{"w"}, name}};
    command_of(job.spec.edit()).command = "train";
    command_of(job.spec.edit()).distribution = std::move(distribution);
    job.spec.edit().compute = "k8s";
    ASSERT_TRUE(plane.jobs.submit(job));
  }
  /// Lets so much time pass, in steps in which everybody looks.
  void pass(Duration time) {
    for (Duration step(0); step < time; step += 500ms) {
      clock.advance(500ms);
      keeper.reconcile();
      store.complete();
    }
  }
  model::Job job(const std::string& name) { return *plane.jobs.find({{"w"}, name}); }
  AttemptRef ref(const std::string& name) { return attempt_of(job(name)); }
  std::string why(const std::string& name) { return *plane.jobs.explain({{"w"}, name}); }

  SimClock clock;
  store::FakeStore store;
  NoEffects effects;
  Signer signer{"0123456789abcdef0123456789abcdef"};
  ControlPlane plane{store, effects, clock, {}};
  std::shared_ptr<FakeAttempts> world = std::make_shared<FakeAttempts>();
  bool is_unsure = false;
  EngineKeeper keeper{{.plane = plane,
                       .store = store,
                       .signer = signer,
                       .clock = clock,
                       .url = "https://here",
                       .make =
                           [this](const model::Compute&) {
                             return std::make_unique<UnsureEngine>(world, is_unsure);
                           },
                       .make_thread = [] { return std::make_unique<io::InlineOffload>(); }}};
};

TEST_F(EngineKeeperTest, AnAttemptIsStartedOnceFollowedToItsEndAndForgotten) {
  submit("a");
  pass(5s);

  const AttemptRef attempt = ref("a");
  ASSERT_TRUE(world->attempts.contains(attempt));
  EXPECT_EQ(world->starts_of(attempt), 1);
  const target::AttemptSpec& spec = world->attempts.at(attempt).spec;
  EXPECT_EQ(spec.plan.command, "train");
  EXPECT_EQ(spec.plan.environment.at("AZ_BATCHAI_JOB_WORK_DIR"),
            target::fake::FakeEngine(world).root_of(attempt) + "/wd");
  EXPECT_EQ(spec.plan.environment.at("AZUREML_SERVICE_ENDPOINT"), "https://here");
  EXPECT_EQ(job("a").status, JobStatus::Running);

  world->advance(attempt, AttemptPhase::Finalizing);
  pass(2s);
  EXPECT_EQ(job("a").status, JobStatus::Finalizing);
  world->end(attempt, {.exit_code = 0});
  pass(2s);
  EXPECT_EQ(job("a").status, JobStatus::Completed);
  EXPECT_TRUE(world->attempts.empty());
}

TEST_F(EngineKeeperTest, NothingIsStartedAndNothingForgottenBeforeTheCommit) {
  submit("a");
  keeper.reconcile();
  EXPECT_TRUE(world->attempts.empty());
  pass(2s);
  ASSERT_EQ(world->attempts.size(), 1u);

  world->end(ref("a"), {.exit_code = 0});
  clock.advance(2s);
  keeper.reconcile();
  EXPECT_EQ(job("a").status, JobStatus::Completed);
  EXPECT_EQ(world->attempts.size(), 1u);
  store.complete();
  EXPECT_TRUE(world->attempts.empty());
}

TEST_F(EngineKeeperTest, AStartThatActedAndThenFailedIsFoundAndNotRepeated) {
  is_unsure = true;
  submit("a");
  pass(5s);

  EXPECT_EQ(world->starts_of(ref("a")), 1);
  EXPECT_EQ(job("a").attempt, 1);
  EXPECT_EQ(job("a").status, JobStatus::Running);
}

TEST_F(EngineKeeperTest, AnAttemptThatIsNotTakenIsTriedAgainEverLaterAndSaysWhy) {
  is_unsure = true;
  int calls = 0;
  world->on_start = [&calls](FakeAttempts& fake, const target::AttemptSpec& spec) {
    ++calls;
    fake.lose(spec.ref);
  };
  submit("a");
  pass(20s);

  EXPECT_EQ(why("a"), "is not taken by 'k8s' so far (timed out); Berth tries again by itself");
  EXPECT_EQ(job("a").attempt, 1);
  EXPECT_GE(calls, 3);
  EXPECT_LE(calls, 6);
}

TEST_F(EngineKeeperTest, AnObservationThatFailsIsNoNews) {
  submit("a");
  pass(2s);
  world->troubles.resize(3);
  pass(10s);

  EXPECT_TRUE(world->troubles.empty());
  EXPECT_EQ(job("a").attempt, 1);
  EXPECT_EQ(job("a").status, JobStatus::Running);
}

TEST_F(EngineKeeperTest, WhatWasLostRunsAgainAsTheNextAttempt) {
  submit("a");
  pass(2s);
  const AttemptRef first = ref("a");
  world->lose(first);
  pass(3s);

  EXPECT_EQ(job("a").attempt, 2);
  EXPECT_EQ(job("a").requeues, 1);
  EXPECT_EQ(world->starts_of(first), 1);
  EXPECT_EQ(world->starts_of(ref("a")), 1);
}

TEST_F(EngineKeeperTest, ACancelledJobIsStoppedWhenThatIsOnDiskAndThenForgotten) {
  submit("a");
  pass(2s);
  EXPECT_TRUE(plane.jobs.cancel({{"w"}, "a"}));
  clock.advance(2s);
  keeper.reconcile();
  EXPECT_NE(world->attempts.at(ref("a")).phase, AttemptPhase::Ended);
  pass(3s);

  EXPECT_EQ(job("a").status, JobStatus::Canceled);
  EXPECT_TRUE(world->attempts.empty());
}

TEST_F(EngineKeeperTest, AJobThatIsCancelledBeforeItWasTakenIsNotStarted) {
  submit("a");
  EXPECT_TRUE(plane.jobs.cancel({{"w"}, "a"}));
  pass(3s);

  EXPECT_EQ(job("a").status, JobStatus::Canceled);
  EXPECT_TRUE(world->starts.empty());
}

TEST_F(EngineKeeperTest, WhatNobodyWantsIsStoppedAndForgotten) {
  submit("a");
  pass(2s);
  AttemptRef stray = ref("a");
  stray.fence = "of another time";
  world->attempts[stray] = {.phase = AttemptPhase::Running};
  pass(3s);

  EXPECT_FALSE(world->attempts.contains(stray));
  EXPECT_TRUE(world->attempts.contains(ref("a")));
}

TEST_F(EngineKeeperTest, AJobThatAnEngineCannotRunFailsAndSaysWhy) {
  submit("a", boost::json::object{{"distributionType", "PyTorch"}, {"processCountPerInstance", 2}});
  pass(2s);

  EXPECT_EQ(job("a").status, JobStatus::Failed);
  EXPECT_EQ(job("a").error->message,
            "'k8s' runs one process of a job, and this one asks for several");
}

}  // namespace
}  // namespace berth::server
