// SPDX-License-Identifier: Apache-2.0
#include "core/deployment_controller.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::core {
namespace {

using model::DeploymentOperation;
using model::DeploymentState;
using model::DeploymentStep;
using model::TemplateDeployment;
using Lines = std::vector<const DeploymentOperation*>;

constexpr const char* kFailed = "DeploymentFailed";

bool has_succeeded(const Lines& lines, int number) {
  return lines[static_cast<std::size_t>(number) - 1]->state == DeploymentState::Succeeded;
}

DeploymentOrder step_resource(const TemplateDeployment& deployment, const Lines& lines) {
  const std::vector<DeploymentStep>& steps = *deployment.steps;
  const int number = static_cast<int>(lines.size()) + 1;
  const DeploymentStep& next = steps[lines.size()];
  const auto missing =
      std::ranges::find_if(next.after, [&](int earlier) { return !has_succeeded(lines, earlier); });
  if (missing == next.after.end() && !next.is_satisfied) return MakerOrder(MakeResource{number});
  SettleResource order{line_of(deployment, number)};
  if (missing != next.after.end()) {
    order.line.state = DeploymentState::Canceled;
    order.line.error_code = "DependencyFailed";
    order.line.error = fmt::format("not made, because '{}' was not",
                                   steps[static_cast<std::size_t>(*missing) - 1].name);
  }
  return order;
}

/// Everything has been tried.
DeploymentOrder conclude(const Lines& lines) {
  const auto count = [&](DeploymentState state) {
    return std::ranges::count(lines, state, [](const auto* line) { return line->state; });
  };
  const auto failed = count(DeploymentState::Failed);
  if (failed == 0) return MakerOrder(EvaluateOutputs{});
  EndDeployment end{
      .error_code = kFailed,
      .error =
          fmt::format("of {} resources {} were made, {} failed and {} were not tried", lines.size(),
                      count(DeploymentState::Succeeded), failed, count(DeploymentState::Canceled))};
  for (const DeploymentOperation* line : lines) {
    if (line->state != DeploymentState::Failed) continue;
    end.error += fmt::format("; {}: {}", line->name, line->error);
  }
  return end;
}

}  // namespace

std::vector<DeploymentOrder> step(const State& state, const TemplateDeployment& deployment) {
  if (is_over(deployment.state)) return {};
  const Lines lines = lines_of(state, deployment);
  const int done = static_cast<int>(lines.size());
  if (deployment.resumed > kMostResumed && deployment.resumed_at == done) {
    return {EndDeployment{
        .error_code = kFailed,
        .error = fmt::format("the server ended twice during its step {}, and it is not tried a "
                             "third time; what was made before stays",
                             done + 1)}};
  }
  if (!deployment.steps) return {MakerOrder(PlanAgain{})};
  if (lines.size() < deployment.steps->size()) return {step_resource(deployment, lines)};
  return {conclude(lines)};
}

DeploymentOperation line_of(const TemplateDeployment& deployment, int number) {
  const DeploymentStep& step = deployment.steps->at(static_cast<std::size_t>(number) - 1);
  return {.deployment = deployment.id,
          .number = number,
          .resource = step.resource,
          .type = step.type,
          .name = step.name,
          .is_satisfied = step.is_satisfied};
}

Lines lines_of(const State& state, const TemplateDeployment& deployment) {
  Lines lines;
  auto line = state.operations.lower_bound({deployment.id, 0});
  for (; line != state.operations.end() && line->first.deployment == deployment.id; ++line) {
    lines.push_back(&line->second);
  }
  return lines;
}

const TemplateDeployment* find_deployment(const State& state, const std::string& id) {
  const auto found = std::ranges::find_if(state.deployments,
                                          [&](const auto& entry) { return entry.second.id == id; });
  return found == state.deployments.end() ? nullptr : &found->second;
}

}  // namespace berth::core
