// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "core/state.h"
#include "model/workspace.h"

namespace berth::core {

/// nullptr when there is none of those names, whatever their case.
const model::Workspace* find_workspace(const State& state, std::string_view subscription,
                                       std::string_view group, std::string_view name);
const model::Workspace* find_workspace(const State& state, const model::WorkspaceId& id);

/// What a change does not mention stays as it is; another location, storage account, key vault or
/// hbiWorkspace is a Conflict that names it, as in Azure.
Result<model::Workspace> changed_workspace(const model::Workspace& existing,
                                           model::Workspace asked);

}  // namespace berth::core
