// SPDX-License-Identifier: Apache-2.0
// How a deployment of a template goes on, by the same look at the State that places jobs and steps
// parents (controller.h). server/plane/decider.h asks whenever a deployment or a line of one has
// changed, and after each load.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/state.h"

namespace berth::core {

/// A row of an earlier Berth does not say the steps: the template is to be planned again.
struct PlanAgain {
  friend bool operator==(const PlanAgain&, const PlanAgain&) = default;
};
/// The resource of the next step is to be made, with its line in the same commit.
struct MakeResource {
  int number = 0;
  friend bool operator==(const MakeResource&, const MakeResource&) = default;
};
/// All are there: the outputs are to be evaluated, which ends the deployment.
struct EvaluateOutputs {
  friend bool operator==(const EvaluateOutputs&, const EvaluateOutputs&) = default;
};
/// What needs the template and its language, which core/ does not have. Ordered again until the
/// State says that it has happened.
using MakerOrder = std::variant<PlanAgain, MakeResource, EvaluateOutputs>;

/// Nothing is to be made for this resource; its times are not known here.
struct SettleResource {
  model::DeploymentOperation line{};
};
struct EndDeployment {
  model::DeploymentState state = model::DeploymentState::Failed;
  std::string error_code{};
  std::string error{};
};

using DeploymentOrder = std::variant<MakerOrder, SettleResource, EndDeployment>;

/// A step during which so many servers have ended is tried once more, and then no more.
inline constexpr int kMostResumed = 1;

/// What follows for a deployment; nothing, when it is over. One order at a time: the next follows
/// from what became of it.
std::vector<DeploymentOrder> step(const State& state, const model::TemplateDeployment& deployment);

/// The line of a step, as if it had succeeded; without times.
model::DeploymentOperation line_of(const model::TemplateDeployment& deployment, int number);

/// The lines that the State has of it, by number.
std::vector<const model::DeploymentOperation*> lines_of(
    const State& state, const model::TemplateDeployment& deployment);

/// By TemplateDeployment::id; nullptr: it is not in the State. There are few of them at a time.
const model::TemplateDeployment* find_deployment(const State& state, const std::string& id);

}  // namespace berth::core
