// SPDX-License-Identifier: Apache-2.0
#include "model/workspace.h"

#include <fmt/format.h>

namespace berth::model {

std::string arm_id(const Workspace& workspace) {
  return fmt::format(
      "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.MachineLearningServices/workspaces/"
      "{}",
      workspace.subscription, workspace.resource_group, workspace.name);
}

std::string mlflow_path(const Workspace& workspace) { return "/mlflow/v1.0" + arm_id(workspace); }

}  // namespace berth::model
