// SPDX-License-Identifier: Apache-2.0
// What every Engine promises. An engine joins by adding a Yard to kYards.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "target/fake/fake_engine.h"
#include "tests/contract/place.h"

namespace berth::target {
namespace {

using model::AttemptRef;
using model::Ending;

/// What a command is to do.
struct Behaviour {
  std::string says{};
  std::optional<int> exits{};  ///< With this code; else it runs until it is stopped.
};

/// Where an engine's attempts live: it outlasts engine objects, as the world does.
class Yard {
 public:
  virtual ~Yard() = default;
  virtual std::string why_not() { return {}; }  ///< Why it cannot be used here.
  virtual std::unique_ptr<Engine> make_engine() = 0;
  virtual std::string command_that(const Behaviour& behaviour) = 0;
  virtual int starts_of(const AttemptRef& ref) = 0;  ///< How often its command really began.
  /// The next call has its effect, but its answer gets lost.
  virtual void lose_next_answer() = 0;
  /// The next call has no effect, and says so.
  virtual void fail_next() = 0;
};

class FakeYard final : public Yard {
 public:
  FakeYard() {
    attempts_->on_start = [this](fake::FakeAttempts& world, const AttemptSpec& spec) {
      const Behaviour& behaves = behaviours_.at(spec.plan.command);
      world.say(spec.ref, behaves.says);
      if (behaves.exits) world.end(spec.ref, {.exit_code = *behaves.exits});
    };
  }

  std::unique_ptr<Engine> make_engine() override {
    return std::make_unique<fake::FakeEngine>(attempts_);
  }
  std::string command_that(const Behaviour& behaviour) override {
    const std::string command = std::to_string(behaviours_.size());
    behaviours_[command] = behaviour;
    return command;
  }
  int starts_of(const AttemptRef& ref) override { return attempts_->starts_of(ref); }
  void lose_next_answer() override { attempts_->troubles.push_back({.acts = true}); }
  void fail_next() override { attempts_->troubles.push_back({}); }

 private:
  std::map<std::string, Behaviour> behaviours_{};
  std::shared_ptr<fake::FakeAttempts> attempts_ = std::make_shared<fake::FakeAttempts>();
};

struct YardCase {
  const char* name;
  std::function<std::unique_ptr<Yard>()> make;
};

const YardCase kYards[] = {
    {"Fake", [] { return std::make_unique<FakeYard>(); }},
};

AttemptRef ref(const char* job, int attempt = 1, const char* fence = "f1") {
  return {{{"ws"}, job}, attempt, fence};
}

class EngineContract : public testing::TestWithParam<YardCase> {
 protected:
  void SetUp() override {
    if (const std::string why = yard->why_not(); !why.empty()) GTEST_SKIP() << why;
  }

  AttemptSpec spec_of(const AttemptRef& attempt, const Behaviour& behaviour = {}) {
    AttemptSpec spec{.ref = attempt};
    spec.plan.command = yard->command_that(behaviour);
    return spec;
  }

  void start(const AttemptRef& attempt, const Behaviour& behaviour = {}) {
    const Status started = engine->start(spec_of(attempt, behaviour));
    ASSERT_TRUE(started) << started.error().message;
  }

  std::optional<ObservedAttempt> observed(const AttemptRef& attempt) {
    const auto seen = engine->observe();
    EXPECT_TRUE(seen);
    std::optional<ObservedAttempt> found;
    for (const ObservedAttempt& each : *seen) {
      EXPECT_EQ(each.phase == AttemptPhase::Ended, each.outcome.has_value());
      if (each.ref != attempt) continue;
      EXPECT_FALSE(found) << "listed twice";
      found = each;
    }
    return found;
  }

  bool reaches(const AttemptRef& attempt, AttemptPhase phase) {
    return eventually([&] {
      const auto seen = observed(attempt);
      return seen && seen->phase == phase;
    });
  }

  /// How it ended, once it has.
  model::Outcome end_of(const AttemptRef& attempt) {
    EXPECT_TRUE(reaches(attempt, AttemptPhase::Ended));
    const auto seen = observed(attempt);
    return seen ? seen->outcome.value_or(model::Outcome{}) : model::Outcome{};
  }

  /// All of the log from there on, of an attempt that ends by itself.
  std::string log_from(const AttemptRef& attempt, std::uint64_t from) {
    std::string log;
    EXPECT_TRUE(eventually([&] {
      const auto part = engine->read_log(attempt, from + log.size());
      EXPECT_TRUE(part);
      if (!part) return true;
      log += part->bytes;
      return part->is_last;
    }));
    return log;
  }

  std::unique_ptr<Yard> yard = GetParam().make();
  std::unique_ptr<Engine> engine = yard->make_engine();
};

TEST_P(EngineContract, SeesNothingBeforeAnythingWasStarted) {
  EXPECT_TRUE(engine->observe()->empty());
}

TEST_P(EngineContract, AnAttemptThatWasStartedIsSeenAtOnceAndRuns) {
  start(ref("a"));

  EXPECT_TRUE(observed(ref("a")));
  EXPECT_TRUE(reaches(ref("a"), AttemptPhase::Running));
}

TEST_P(EngineContract, ItsEndIsSeenUntilItIsForgotten) {
  start(ref("a"), {.exits = 3});

  EXPECT_EQ(end_of(ref("a")), (model::Outcome{.exit_code = 3}));
  EXPECT_EQ(end_of(ref("a")), (model::Outcome{.exit_code = 3}));
  EXPECT_TRUE(engine->forget(ref("a")));
  EXPECT_FALSE(observed(ref("a")));
}

TEST_P(EngineContract, StartingARefTwiceRunsItOnce) {
  start(ref("a"));
  start(ref("a"));
  ASSERT_TRUE(reaches(ref("a"), AttemptPhase::Running));

  EXPECT_EQ(yard->starts_of(ref("a")), 1);
}

TEST_P(EngineContract, OneThatHasEndedIsNotStartedAgain) {
  start(ref("a"), {.exits = 3});
  ASSERT_EQ(end_of(ref("a")).exit_code, 3);

  start(ref("a"), {.exits = 0});

  EXPECT_EQ(end_of(ref("a")).exit_code, 3);
  EXPECT_EQ(yard->starts_of(ref("a")), 1);
}

TEST_P(EngineContract, AStartThatFailedButActedIsSeenAndNotRepeated) {
  yard->lose_next_answer();
  EXPECT_FALSE(engine->start(spec_of(ref("a"))));
  EXPECT_TRUE(eventually([&] { return observed(ref("a")).has_value(); }));

  start(ref("a"));

  ASSERT_TRUE(reaches(ref("a"), AttemptPhase::Running));
  EXPECT_EQ(yard->starts_of(ref("a")), 1);
}

TEST_P(EngineContract, AStartThatFailedCanBeRepeated) {
  yard->fail_next();
  EXPECT_FALSE(engine->start(spec_of(ref("a"))));
  EXPECT_FALSE(observed(ref("a")));

  start(ref("a"));

  EXPECT_TRUE(reaches(ref("a"), AttemptPhase::Running));
}

TEST_P(EngineContract, AnObservationThatFailsIsAnErrorAndNoNews) {
  start(ref("a"));
  yard->fail_next();

  EXPECT_FALSE(engine->observe());
  EXPECT_TRUE(observed(ref("a")));
}

TEST_P(EngineContract, ANumberOrAFenceTellsAttemptsApart) {
  start(ref("a", 1, "f1"), {.exits = 1});
  start(ref("a", 2, "f2"), {.exits = 2});
  start(ref("a", 1, "f3"), {.exits = 3});

  EXPECT_EQ(end_of(ref("a", 1, "f1")).exit_code, 1);
  EXPECT_EQ(end_of(ref("a", 2, "f2")).exit_code, 2);
  EXPECT_EQ(end_of(ref("a", 1, "f3")).exit_code, 3);
  EXPECT_NE(engine->root_of(ref("a", 1, "f1")), engine->root_of(ref("a", 1, "f3")));
}

TEST_P(EngineContract, AttemptsAreIndependent) {
  start(ref("a"));
  start(ref("b"));

  ASSERT_TRUE(engine->stop(ref("a")));

  EXPECT_EQ(end_of(ref("a")).ending, Ending::Stopped);
  EXPECT_TRUE(reaches(ref("b"), AttemptPhase::Running));
}

TEST_P(EngineContract, StoppingIsRepeatable) {
  start(ref("a"));

  EXPECT_TRUE(engine->stop(ref("a")));
  EXPECT_EQ(end_of(ref("a")).ending, Ending::Stopped);
  EXPECT_TRUE(engine->stop(ref("a")));
  EXPECT_TRUE(engine->stop(ref("never-started")));
  EXPECT_FALSE(observed(ref("never-started")));
}

TEST_P(EngineContract, AStopThatComesTooLateLeavesTheEndAsItWas) {
  start(ref("a"), {.exits = 3});
  ASSERT_EQ(end_of(ref("a")).exit_code, 3);

  EXPECT_TRUE(engine->stop(ref("a")));

  EXPECT_EQ(end_of(ref("a")), (model::Outcome{.exit_code = 3}));
}

TEST_P(EngineContract, WhatHasNotEndedIsNotForgotten) {
  start(ref("a"));

  const Status refused = engine->forget(ref("a"));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Conflict);
  EXPECT_TRUE(observed(ref("a")));
}

TEST_P(EngineContract, ForgettingIsRepeatable) {
  start(ref("a"), {.exits = 0});
  (void)end_of(ref("a"));

  EXPECT_TRUE(engine->forget(ref("a")));
  EXPECT_TRUE(engine->forget(ref("a")));
  EXPECT_TRUE(engine->forget(ref("never-started")));
}

TEST_P(EngineContract, TheLogCanBeReadFromAnyOffset) {
  const std::string text = "a first line\nand one more\n";
  start(ref("a"), {.says = text, .exits = 0});

  EXPECT_EQ(log_from(ref("a"), 0), text);
  EXPECT_EQ(log_from(ref("a"), 8), text.substr(8));
  EXPECT_EQ(log_from(ref("a"), text.size()), "");
  EXPECT_EQ(log_from(ref("a"), 10'000), "");
}

TEST_P(EngineContract, TheLogOfOneThatRunsIsNeverSaidToBeComplete) {
  start(ref("a"), {.says = "up\n"});
  std::string log;
  ASSERT_TRUE(eventually([&] {
    const auto part = engine->read_log(ref("a"), log.size());
    EXPECT_TRUE(part && !part->is_last);
    if (part) log += part->bytes;
    return log == "up\n";
  }));

  EXPECT_FALSE(engine->read_log(ref("a"), log.size())->is_last);
}

TEST_P(EngineContract, ThereIsNoLogOfWhatIsNotThere) {
  const auto part = engine->read_log(ref("never-started"), 0);

  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().code, Code::NotFound);
}

TEST_P(EngineContract, ANewEngineObjectFindsTheAttemptsOfTheOldOne) {
  start(ref("a"));
  const std::string root = engine->root_of(ref("a"));

  engine = yard->make_engine();

  EXPECT_TRUE(reaches(ref("a"), AttemptPhase::Running));
  EXPECT_EQ(engine->root_of(ref("a")), root);
  start(ref("a"));
  EXPECT_TRUE(engine->stop(ref("a")));
  EXPECT_EQ(end_of(ref("a")).ending, Ending::Stopped);
  EXPECT_EQ(yard->starts_of(ref("a")), 1);
}

TEST_P(EngineContract, RefusesNamesThatCouldBePaths) {
  for (const char* name : {"", "..", "../a", "a/b"}) {
    const Status refused = engine->start(spec_of(ref(name)));
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, Code::InvalidArgument);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EngineContract, testing::ValuesIn(kYards),
                         [](const auto& test) { return test.param.name; });

// What the fake can be told to do besides, which other tests rest on.

class FakeEngineTest : public testing::Test {
 protected:
  std::vector<ObservedAttempt> observe() { return engine.observe().value(); }

  fake::FakeEngine engine{};
  fake::FakeAttempts& world = engine.attempts();
};

TEST_F(FakeEngineTest, AStartMayArriveAfterItWasSaidToHaveFailedAndTwice) {
  world.delay_starts();
  world.troubles.push_back({.acts = true});
  ASSERT_FALSE(engine.start({.ref = ref("a")}));
  EXPECT_TRUE(observe().empty());

  world.arrive();
  world.arrive();

  ASSERT_EQ(observe().size(), 1u);
  EXPECT_EQ(world.starts_of(ref("a")), 1);
}

TEST_F(FakeEngineTest, AnEndMayBeReportedLate) {
  ASSERT_TRUE(engine.start({.ref = ref("a")}));
  world.hold_back(ref("a"));
  world.end(ref("a"), {.exit_code = 3});
  EXPECT_EQ(observe().at(0).phase, AttemptPhase::Running);
  EXPECT_FALSE(engine.forget(ref("a"))) << "nobody has seen its end";

  world.let_go(ref("a"));

  EXPECT_EQ(observe().at(0).outcome, (model::Outcome{.exit_code = 3}));
}

TEST_F(FakeEngineTest, AnAttemptMayVanish) {
  ASSERT_TRUE(engine.start({.ref = ref("a")}));

  world.lose(ref("a"));

  EXPECT_TRUE(observe().empty());
}

TEST_F(FakeEngineTest, AStopWhoseAnswerGetsLostHasItsEffect) {
  ASSERT_TRUE(engine.start({.ref = ref("a")}));
  world.troubles.push_back({.acts = true});

  EXPECT_FALSE(engine.stop(ref("a")));

  EXPECT_EQ(observe().at(0).outcome->ending, Ending::Stopped);
}

}  // namespace
}  // namespace berth::target
