// SPDX-License-Identifier: Apache-2.0
#include "core/deployment_controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "core/sample.h"

namespace berth::core {
namespace {

using model::DeploymentKey;
using model::DeploymentOperation;
using model::DeploymentState;
using model::DeploymentStep;
using model::TemplateDeployment;
using sample::at;

using Steps = std::vector<DeploymentStep>;

DeploymentKey key_of_name(const std::string& name) { return model::deployment_key("s", "g", name); }

DeploymentStep resource(const std::string& name, std::vector<int> after = {}) {
  return {.resource = "/" + name, .name = name, .after = std::move(after)};
}

class DeploymentTest : public testing::Test {
 protected:
  ~DeploymentTest() override { check_invariants(state); }

  Touched begin(const std::string& id, std::optional<Steps> steps, const std::string& name = "d") {
    return apply_event(state, DeploymentBegun{{.id = id,
                                               .subscription = "S",
                                               .resource_group = "G",
                                               .name = name,
                                               .sealed = "secret",
                                               .steps = std::move(steps)}});
  }
  const TemplateDeployment& deployment(const std::string& name = "d") const {
    return state.deployments.at(key_of_name(name));
  }
  DeploymentOrder next() const { return step(state, deployment()).at(0); }
  template <typename T>
  std::optional<T> next_of_maker() const {
    const DeploymentOrder order = next();
    const auto* asked = std::get_if<MakerOrder>(&order);
    const T* found = asked == nullptr ? nullptr : std::get_if<T>(asked);
    return found == nullptr ? std::optional<T>() : *found;
  }
  Touched settle(int number, DeploymentState how = DeploymentState::Succeeded) {
    DeploymentOperation line = line_of(deployment(), number);
    line.state = how;
    if (how == DeploymentState::Failed) line.error = "no room";
    return apply_event(state, ResourceSettled{key_of_name("d"), line});
  }
  Touched end(const std::string& id, DeploymentState how) {
    return apply_event(
        state,
        DeploymentEnded{.deployment = key_of_name("d"), .id = id, .state = how, .at = at(9)});
  }

  State state;
};

TEST_F(DeploymentTest, MakesItsResourcesInOrderAndThenEvaluatesItsOutputs) {
  begin("1", Steps{resource("a"), resource("b", {1})});
  EXPECT_EQ(deployment().state, DeploymentState::Accepted);
  EXPECT_EQ(next_of_maker<MakeResource>()->number, 1);

  settle(1);
  EXPECT_EQ(deployment().state, DeploymentState::Running);
  EXPECT_EQ(next_of_maker<MakeResource>()->number, 2);
  settle(2);
  EXPECT_TRUE(next_of_maker<EvaluateOutputs>());

  end("1", DeploymentState::Succeeded);
  EXPECT_TRUE(step(state, deployment()).empty());
  EXPECT_EQ(deployment().sealed, "");
}

TEST_F(DeploymentTest, ThatMakesNothingHasOutputsAllTheSame) {
  begin("1", Steps{});
  EXPECT_TRUE(next_of_maker<EvaluateOutputs>());
}

TEST_F(DeploymentTest, DoesNotAskForWhatIsThereOrCannotBeMade) {
  DeploymentStep there = resource("files");
  there.is_satisfied = true;
  DeploymentStep there_later = resource("more", {2});
  there_later.is_satisfied = true;
  begin("1", Steps{there, resource("a"), resource("b", {1, 2}), there_later, resource("c", {1})});

  const auto satisfied = std::get<SettleResource>(next());
  EXPECT_EQ(satisfied.line.state, DeploymentState::Succeeded);
  apply_event(state, ResourceSettled{key_of_name("d"), satisfied.line});
  settle(2, DeploymentState::Failed);
  for (const int number : {3, 4}) {
    const auto skipped = std::get<SettleResource>(next());
    EXPECT_EQ(skipped.line.number, number);
    EXPECT_EQ(skipped.line.state, DeploymentState::Canceled);
    EXPECT_EQ(skipped.line.error, "not made, because 'a' was not");
    apply_event(state, ResourceSettled{key_of_name("d"), skipped.line});
  }
  EXPECT_EQ(next_of_maker<MakeResource>()->number, 5);
  settle(5);

  const auto end = std::get<EndDeployment>(next());
  EXPECT_EQ(end.state, DeploymentState::Failed);
  EXPECT_EQ(end.error, "of 5 resources 2 were made, 1 failed and 2 were not tried; a: no room");
}

TEST_F(DeploymentTest, IsPlannedAgainWhenItsRowDoesNotSayItsSteps) {
  begin("1", std::nullopt);
  EXPECT_TRUE(next_of_maker<PlanAgain>());

  apply_event(state, DeploymentPlanned{key_of_name("d"), "1", {resource("a")}});
  EXPECT_EQ(next_of_maker<MakeResource>()->number, 1);

  apply_event(state, DeploymentPlanned{key_of_name("d"), "1", {}});
  EXPECT_EQ(deployment().steps->size(), 1u) << "a plan is made once";
}

TEST_F(DeploymentTest, IsNotTriedAThirdTimeInAStepThatEndedTheServerTwice) {
  begin("1", Steps{resource("a"), resource("b")});
  const DeploymentResumed resumed{key_of_name("d"), "1"};
  apply_event(state, resumed);
  EXPECT_TRUE(next_of_maker<MakeResource>());
  settle(1);
  apply_event(state, resumed);
  EXPECT_TRUE(next_of_maker<MakeResource>()) << "another step";

  apply_event(state, resumed);

  const auto end = std::get<EndDeployment>(next());
  EXPECT_EQ(end.state, DeploymentState::Failed);
  EXPECT_NE(end.error.find("twice during its step 2"), std::string::npos) << end.error;
}

TEST_F(DeploymentTest, WritesTheDeploymentsRowForItsFirstLineAndNotForTheOthers) {
  begin("1", Steps{resource("a"), resource("b")});

  const Touched first = settle(1);
  const Touched second = settle(2);

  EXPECT_EQ(first.of<TemplateDeployment>().size(), 1u);
  EXPECT_EQ(first.of<DeploymentOperation>().size(), 1u);
  EXPECT_TRUE(second.of<TemplateDeployment>().empty());
  EXPECT_EQ(second.of<DeploymentOperation>().size(), 1u);
}

TEST_F(DeploymentTest, OldRepeatedAndUnknownEventsTouchNothing) {
  begin("1", Steps{resource("a"), resource("b"), resource("c", {2})});
  settle(1);
  const DeploymentKey key = key_of_name("d");
  DeploymentOperation running = line_of(deployment(), 2);
  running.state = DeploymentState::Running;
  DeploymentOperation beyond = line_of(deployment(), 3);
  beyond.number = 9;
  for (const Event& event : std::initializer_list<Event>{
           DeploymentBegun{{.id = "2", .subscription = "s", .resource_group = "g", .name = "D"}},
           ResourceSettled{key, line_of(deployment(), 1)},
           ResourceSettled{key, line_of(deployment(), 3)}, ResourceSettled{key, running},
           ResourceSettled{key, beyond}, ResourceSettled{key, {.deployment = "0", .number = 2}},
           ResourceSettled{key_of_name("x"), line_of(deployment(), 2)},
           DeploymentPlanned{key, "1", {}}, DeploymentResumed{key, "0"},
           DeploymentEnded{.deployment = key, .id = "0"},
           DeploymentEnded{.deployment = key, .id = "1", .state = DeploymentState::Running},
           DeploymentDeleted{key, "1"}, DeploymentDeleted{key_of_name("x"), "1"}}) {
    const Touched touched = apply_event(state, event);
    EXPECT_TRUE(touched.of<TemplateDeployment>().empty()) << event.index();
    EXPECT_TRUE(touched.of<DeploymentOperation>().empty()) << event.index();
  }
  EXPECT_EQ(lines_of(state, deployment()).size(), 1u);
}

TEST_F(DeploymentTest, OneThatIsOverMakesRoomForTheNextOfItsName) {
  begin("1", Steps{resource("a")});
  settle(1);
  end("1", DeploymentState::Succeeded);

  begin("2", Steps{resource("b")}, "D");

  EXPECT_EQ(deployment().id, "2");
  EXPECT_TRUE(state.operations.empty());
  EXPECT_TRUE(end("1", DeploymentState::Failed).of<TemplateDeployment>().empty());
}

TEST_F(DeploymentTest, LeavesTheStateWithItsLinesWhenItsEndIsOnDisk) {
  begin("1", Steps{resource("a")});
  settle(1);
  EntityKeys keys;
  keys.of<TemplateDeployment>() = {key_of_name("d"), key_of_name("unknown")};
  forget_ended(state, keys);
  EXPECT_EQ(state.deployments.size(), 1u) << "it is not over";

  end("1", DeploymentState::Succeeded);
  forget_ended(state, keys);

  EXPECT_TRUE(state.deployments.empty());
  EXPECT_TRUE(state.operations.empty());
}

TEST_F(DeploymentTest, IsDeletedWithItsLinesOnceItIsOver) {
  begin("1", Steps{resource("a")});
  settle(1);
  end("1", DeploymentState::Failed);

  const Touched touched = apply_event(state, DeploymentDeleted{key_of_name("d"), "1"});

  EXPECT_EQ(touched.of<TemplateDeployment>().size(), 1u);
  EXPECT_TRUE(state.deployments.empty());
  EXPECT_TRUE(state.operations.empty());
}

// ---- Random histories --------------------------------------------------------------------------

/// Anything that can happen to deployments, in any order, with reports that are old or wrong.
class RandomDeployments : public DeploymentTest {
 protected:
  int pick(int bound) { return std::uniform_int_distribution(0, bound - 1)(random); }
  std::string some_name() { return "d" + std::to_string(pick(3)); }

  Steps some_steps() {
    Steps steps;
    for (int number = 1; number <= pick(5); ++number) {
      DeploymentStep& next = steps.emplace_back(resource("r" + std::to_string(number)));
      next.is_satisfied = pick(4) == 0;
      for (int earlier = 1; earlier < number; ++earlier) {
        if (pick(3) == 0) next.after.push_back(earlier);
      }
    }
    return steps;
  }

  void happen() {
    const std::string name = some_name();
    const DeploymentKey key = key_of_name(name);
    const std::string id = std::to_string(pick(last_id + 1));
    switch (pick(8)) {
      case 0:
        begin(std::to_string(++last_id),
              pick(4) == 0 ? std::optional<Steps>() : std::optional(some_steps()), name);
        return;
      case 1: return touch(DeploymentResumed{key, id});
      case 2: return touch(DeploymentDeleted{key, id});
      case 3:
        return touch(DeploymentEnded{
            .deployment = key, .id = id, .state = DeploymentState::Canceled, .at = at(1)});
      case 4: return touch(DeploymentPlanned{key, id, some_steps()});
      case 5:  // What was settled before, or never was a step.
        return touch(ResourceSettled{key, {.deployment = id, .number = pick(3) == 0 ? 0 : 99}});
      default: return carry_out_next(name);
    }
  }

  /// As the server and its maker would.
  void carry_out_next(const std::string& name) {
    const auto found = state.deployments.find(key_of_name(name));
    if (found == state.deployments.end()) return;
    const TemplateDeployment before = found->second;
    for (const DeploymentOrder& order : step(state, before)) {
      std::visit([&](const auto& what) { carry_out(before, what); }, order);
    }
  }
  void carry_out(const TemplateDeployment& of, const SettleResource& order) {
    touch(ResourceSettled{model::key_of(of), order.line});
  }
  void carry_out(const TemplateDeployment& of, const EndDeployment& order) {
    touch(DeploymentEnded{.deployment = model::key_of(of), .id = of.id, .state = order.state});
  }
  void carry_out(const TemplateDeployment& of, const MakerOrder& order) {
    if (const auto* next = std::get_if<MakeResource>(&order)) {
      DeploymentOperation line = line_of(of, next->number);
      if (pick(5) == 0) line.state = DeploymentState::Failed;
      touch(ResourceSettled{model::key_of(of), line});
    } else if (std::holds_alternative<PlanAgain>(order)) {
      touch(DeploymentPlanned{model::key_of(of), of.id, some_steps()});
    } else {
      touch(DeploymentEnded{
          .deployment = model::key_of(of), .id = of.id, .state = DeploymentState::Succeeded});
    }
  }

  void touch(const Event& event) {
    const Touched touched = apply_event(state, event);
    if (pick(2) == 0) forget_ended(state, touched);
  }

  std::mt19937 random{0};
  int last_id = 0;
};

TEST_F(RandomDeployments, KeepEveryInvariantAndComeToAnEnd) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    random.seed(seed);
    state = {};
    for (int count = 0; count < 80; ++count) {
      happen();
      check_invariants(state);
    }
    for (int count = 0; count < 20; ++count) {
      for (const char* name : {"d0", "d1", "d2"}) carry_out_next(name);
      check_invariants(state);
    }
    for (const auto& [key, each] : state.deployments) EXPECT_TRUE(is_over(each.state)) << key.name;
  }
}

}  // namespace
}  // namespace berth::core
