// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/arm/template_deployments.h"

namespace berth::server {

/// A deployment that is not over, or whose end is not on disk yet.
struct TemplateDeployments::Live {
  model::TemplateDeployment deployment{};
  std::vector<model::DeploymentOperation> operations{};  ///< Of the plan's first resources.
  std::unique_ptr<Plan> plan{};        ///< Null: it cannot be made again, and the deployment fails.
  std::vector<std::string> secrets{};  ///< To be kept out of messages.
  bool is_ended = false;
};

}  // namespace berth::server
