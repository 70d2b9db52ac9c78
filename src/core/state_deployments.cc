// SPDX-License-Identifier: Apache-2.0
// What events do to deployments of templates.
#include "core/apply.h"
#include "core/deployment_controller.h"

namespace berth::core {

using model::DeploymentKey;
using model::DeploymentState;
using model::TemplateDeployment;

namespace {

/// The deployment that the event means, if it goes on; nullptr: it is over, or another one has its
/// name.
TemplateDeployment* going_on(State& state, const DeploymentKey& key, const std::string& id) {
  const auto found = state.deployments.find(key);
  if (found == state.deployments.end() || found->second.id != id) return nullptr;
  return is_over(found->second.state) ? nullptr : &found->second;
}

int lines_settled(const State& state, const TemplateDeployment& deployment) {
  return static_cast<int>(lines_of(state, deployment).size());
}

}  // namespace

void forget(State& state, const DeploymentKey& key) {
  const auto found = state.deployments.find(key);
  if (found == state.deployments.end()) return;
  const std::string& id = found->second.id;
  auto line = state.operations.lower_bound({id, 0});
  while (line != state.operations.end() && line->first.deployment == id) {
    line = state.operations.erase(line);
  }
  state.deployments.erase(found);
}

Touched on(State& state, const DeploymentBegun& event) {
  const DeploymentKey key = key_of(event.deployment);
  const auto found = state.deployments.find(key);
  if (found != state.deployments.end()) {
    if (!is_over(found->second.state) || found->second.id == event.deployment.id) return {};
    forget(state, key);
  }
  TemplateDeployment& deployment = state.deployments[key] = event.deployment;
  deployment.state = DeploymentState::Accepted;
  return touching<TemplateDeployment>(key);
}

Touched on(State& state, const DeploymentPlanned& event) {
  TemplateDeployment* deployment = going_on(state, event.deployment, event.id);
  if (deployment == nullptr || deployment->steps) return {};
  deployment->steps = event.steps;
  return touching<TemplateDeployment>(event.deployment);
}

/// On disk before the step is tried: a server that ends in it leaves the count behind.
Touched on(State& state, const DeploymentResumed& event) {
  TemplateDeployment* deployment = going_on(state, event.deployment, event.id);
  if (deployment == nullptr) return {};
  const int done = lines_settled(state, *deployment);
  deployment->resumed = deployment->resumed_at == done ? deployment->resumed + 1 : 1;
  deployment->resumed_at = done;
  return touching<TemplateDeployment>(event.deployment);
}

/// It touches the line alone, unless it is the first: the template in the deployment's row need not
/// be written once more for each resource.
Touched on(State& state, const ResourceSettled& event) {
  const model::DeploymentOperation& line = event.line;
  TemplateDeployment* deployment = going_on(state, event.deployment, line.deployment);
  if (deployment == nullptr || !deployment->steps) return {};
  const int done = lines_settled(state, *deployment);
  const bool is_next =
      line.number == done + 1 && line.number <= static_cast<int>(deployment->steps->size());
  if (!is_next || !is_over(line.state)) return {};
  const model::OperationKey key{line.deployment, line.number};
  state.operations[key] = line;
  Touched touched = touching<model::DeploymentOperation>(key);
  if (deployment->state == DeploymentState::Accepted) {
    deployment->state = DeploymentState::Running;
    touched.of<TemplateDeployment>().insert(event.deployment);
  }
  return touched;
}

Touched on(State& state, const DeploymentEnded& event) {
  TemplateDeployment* deployment = going_on(state, event.deployment, event.id);
  if (deployment == nullptr || !is_over(event.state)) return {};
  deployment->state = event.state;
  deployment->outputs = event.outputs;
  deployment->error_code = event.error_code;
  deployment->error = event.error;
  deployment->modified_at = event.at;
  deployment->sealed.clear();
  return touching<TemplateDeployment>(event.deployment);
}

Touched on(State& state, const DeploymentDeleted& event) {
  const auto found = state.deployments.find(event.deployment);
  const bool applies = found != state.deployments.end() && found->second.id == event.id &&
                       is_over(found->second.state);
  if (!applies) return {};
  forget(state, event.deployment);
  return touching<TemplateDeployment>(event.deployment);
}

}  // namespace berth::core
