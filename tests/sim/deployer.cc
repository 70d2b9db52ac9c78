// SPDX-License-Identifier: Apache-2.0
#include "sim/deployer.h"

#include <algorithm>

namespace berth::sim {

using namespace std::chrono_literals;
using model::DeploymentState;

void Deployer::carry_out(const model::DeploymentKey& key, const std::string& id,
                         const core::MakerOrder& order) {
  stage_.time.after(stage_.random.between(0ms, 400ms),
                    [this, alive = std::weak_ptr<int>(alive_), key, id, order] {
                      if (!alive.expired()) go_on(key, id, order);
                    });
}

void Deployer::go_on(const model::DeploymentKey& key, const std::string& id,
                     const core::MakerOrder& order) {
  const auto found = plane_.state().deployments.find(key);
  if (found == plane_.state().deployments.end() || found->second.id != id) return;
  const auto orders = core::step(plane_.state(), found->second);
  const bool is_still_ordered = std::ranges::any_of(orders, [&](const auto& now) {
    const auto* asked = std::get_if<core::MakerOrder>(&now);
    return asked != nullptr && *asked == order;
  });
  if (!is_still_ordered) return;
  if (const auto* next = std::get_if<core::MakeResource>(&order)) {
    make(key, core::line_of(found->second, next->number));
  } else if (std::holds_alternative<core::EvaluateOutputs>(order)) {
    plane_.deployments.ended({.deployment = key,
                              .id = id,
                              .state = DeploymentState::Succeeded,
                              .at = stage_.wall_time()});
  } else {
    stage_.judge.blame("a deployment that was begun here does not say its steps");
  }
}

void Deployer::make(const model::DeploymentKey& key, model::DeploymentOperation line) {
  stage_.note("makes", line.name, key.name, line.number);
  if (bug_ == Bug::TellsBeforeItMakes) {
    plane_.deployments.settled(key, line);
    stage_.time.after(10ms, [this, alive = std::weak_ptr<int>(alive_), line] {
      if (!alive.expired()) (void)make(line);
    });
    return;
  }
  const server::Together together(plane_.ledger);
  const Status made = make(line);
  if (!made) line.state = DeploymentState::Failed;
  plane_.deployments.settled(key, std::move(line));
}

Status Deployer::make(const model::DeploymentOperation& line) {
  if (line.type == kRefusedType) return fail(Code::InvalidArgument, "this cannot be made");
  TRY(plane_.computes.put(
      {.key = {{"w"}, line.name},
       .name = line.name,
       .location = "far",
       .kind = model::Cluster{.size = "Standard_DS1_v2", .scale = {.max_nodes = 1}}}));
  return Done{};
}

}  // namespace berth::sim
