// SPDX-License-Identifier: Apache-2.0
#include "lang/arm_template/kinds.h"

#include "base/text.h"

namespace berth::lang::arm_template {
namespace {

constexpr Kind kKinds[] = {
    {"Microsoft.MachineLearningServices/workspaces", Treatment::Made},
    {"Microsoft.MachineLearningServices/workspaces/computes", Treatment::Made},
    {"Microsoft.MachineLearningServices/workspaces/codes", Treatment::Made},
    {"Microsoft.MachineLearningServices/workspaces/codes/versions", Treatment::Made},
    {"Microsoft.MachineLearningServices/workspaces/data", Treatment::Made},
    {"Microsoft.MachineLearningServices/workspaces/data/versions", Treatment::Made},
    {"Microsoft.MachineLearningServices/workspaces/environments", Treatment::Made},
    {"Microsoft.MachineLearningServices/workspaces/environments/versions", Treatment::Made},
    {"Microsoft.MachineLearningServices/workspaces/models", Treatment::Made},
    {"Microsoft.MachineLearningServices/workspaces/models/versions", Treatment::Made},
    {"Microsoft.MachineLearningServices/workspaces/components", Treatment::Made},
    {"Microsoft.MachineLearningServices/workspaces/components/versions", Treatment::Made},
    {"Microsoft.MachineLearningServices/workspaces/datastores", Treatment::Made},
    {"Microsoft.MachineLearningServices/workspaces/jobs", Treatment::Made},
    // Files, secrets and logs of a workspace are Berth's own business.
    {"Microsoft.Storage/storageAccounts", Treatment::Satisfied},
    {"Microsoft.KeyVault/vaults", Treatment::Satisfied},
    {"Microsoft.Insights/components", Treatment::Satisfied},
    {"Microsoft.OperationalInsights/workspaces", Treatment::Satisfied},
    {"Microsoft.ContainerRegistry/registries", Treatment::Satisfied},
};

}  // namespace

std::span<const Kind> known_kinds() { return kKinds; }

std::optional<Kind> find_kind(std::string_view type) {
  for (const Kind& kind : kKinds) {
    if (equals_ignoring_case(kind.type, type)) return kind;
  }
  return std::nullopt;
}

}  // namespace berth::lang::arm_template
