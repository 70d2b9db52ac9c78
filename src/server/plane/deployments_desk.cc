// SPDX-License-Identifier: Apache-2.0
#include "server/plane/deployments_desk.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "core/deployment_controller.h"

namespace berth::server {

using model::DeploymentKey;
using model::TemplateDeployment;

namespace {

DeploymentsDesk::Seen seen_in(const core::State& state, const TemplateDeployment& deployment) {
  DeploymentsDesk::Seen seen{.deployment = deployment};
  for (const auto* line : core::lines_of(state, deployment)) seen.operations.push_back(*line);
  return seen;
}

tl::unexpected<Error> it_goes_on(const std::string& name) {
  return fail(Code::Conflict,
              fmt::format("the deployment '{}' goes on; wait for its end or cancel it", name));
}

}  // namespace

const TemplateDeployment* DeploymentsDesk::going_on(const DeploymentKey& key) const {
  const auto found = state_.deployments.find(key);
  if (found == state_.deployments.end() || is_over(found->second.state)) return nullptr;
  return &found->second;
}

Result<std::optional<DeploymentsDesk::Seen>> DeploymentsDesk::find(const DeploymentKey& key) const {
  if (const auto found = state_.deployments.find(key); found != state_.deployments.end()) {
    return seen_in(state_, found->second);
  }
  store::DeploymentReader& rows = parts_.store.deployments();
  auto deployment = TRY(rows.find(key.subscription, key.resource_group, key.name));
  if (!deployment || gone_.contains(deployment->id)) return std::optional<Seen>();
  auto operations = TRY(rows.operations(deployment->id));
  return Seen{*std::move(deployment), std::move(operations)};
}

Result<DeploymentsDesk::Page> DeploymentsDesk::list(store::DeploymentQuery query) const {
  store::DeploymentReader& rows = parts_.store.deployments();
  const std::size_t size = query.limit++;
  store::Page<TemplateDeployment> found = TRY(rows.list(query));
  Page page{.has_more = found.is_cut || found.size() > size};
  if (found.size() > size) found.resize(size);
  page.read = found.size();
  for (TemplateDeployment& deployment : found) {
    if (gone_.contains(deployment.id)) continue;
    const auto live = state_.deployments.find(key_of(deployment));
    if (live != state_.deployments.end()) {
      page.seen.push_back(seen_in(state_, live->second));
    } else {
      auto operations = TRY(rows.operations(deployment.id));
      page.seen.push_back({std::move(deployment), std::move(operations)});
    }
  }
  return page;
}

Result<DeploymentsDesk::Seen> DeploymentsDesk::begin(TemplateDeployment deployment) {
  if (const TemplateDeployment* existing = going_on(key_of(deployment))) {
    if (existing->fingerprint == deployment.fingerprint) return seen_in(state_, *existing);
    return it_goes_on(deployment.name);
  }
  parts_.ledger.apply(core::DeploymentBegun{deployment});
  parts_.decider.decide();
  parts_.ledger.flush();
  return Seen{std::move(deployment), {}};
}

Status DeploymentsDesk::cancel(const DeploymentKey& key, const std::string& who) {
  const TemplateDeployment* deployment = going_on(key);
  if (deployment == nullptr) {
    const auto seen = TRY(find(key));
    return fail(Code::Conflict, fmt::format("the deployment '{}' is over",
                                            seen ? seen->deployment.name : key.name));
  }
  ended({.deployment = key,
         .id = deployment->id,
         .state = model::DeploymentState::Canceled,
         .error_code = "DeploymentCanceled",
         .error = fmt::format("it was cancelled by {}; what was made stays", who),
         .at = parts_.clock.now().wall});
  return Done{};
}

/// One that is over lives only in the store, and so its removal is a row, unless its end has not
/// come there yet.
Status DeploymentsDesk::remove(const DeploymentKey& key) {
  const auto seen = TRY(find(key));
  if (!seen) return Done{};
  const TemplateDeployment& deployment = seen->deployment;
  if (!is_over(deployment.state)) return it_goes_on(deployment.name);
  if (state_.deployments.contains(key)) {
    parts_.ledger.apply(core::DeploymentDeleted{key, deployment.id});
  } else {
    parts_.ledger.add({store::Erase<TemplateDeployment>{key}});
  }
  gone_.insert(deployment.id);
  parts_.ledger.flush();
  // The disk knows of it then, or never will.
  parts_.ledger.when_durable([this, id = deployment.id](const Status&) {
    if (const auto gone = gone_.find(id); gone != gone_.end()) gone_.erase(gone);
  });
  return Done{};
}

void DeploymentsDesk::resume(TemplateMaker& maker) {
  parts_.decider.attach(&maker);
  std::vector<std::pair<DeploymentKey, std::string>> all;
  for (const auto& [key, deployment] : state_.deployments) all.emplace_back(key, deployment.id);
  for (const auto& [key, id] : all) {
    log::info("goes on with the deployment '{}'", key.name);
    parts_.ledger.apply(core::DeploymentResumed{key, id});
  }
  parts_.decider.decide();
  parts_.ledger.flush();
}

void DeploymentsDesk::detach(const TemplateMaker& maker) {
  if (parts_.decider.maker() == &maker) parts_.decider.attach(nullptr);
}

void DeploymentsDesk::planned(const DeploymentKey& key, const std::string& id,
                              std::vector<model::DeploymentStep> steps) {
  parts_.ledger.apply(core::DeploymentPlanned{key, id, std::move(steps)});
  parts_.decider.decide();
  parts_.ledger.flush();
}

void DeploymentsDesk::settled(const DeploymentKey& key, model::DeploymentOperation line) {
  parts_.ledger.apply(core::ResourceSettled{key, std::move(line)});
  parts_.decider.decide();
  parts_.ledger.flush();
}

void DeploymentsDesk::ended(core::DeploymentEnded event) {
  parts_.ledger.apply(event);
  parts_.ledger.flush();
}

}  // namespace berth::server
