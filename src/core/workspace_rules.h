// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "model/workspace.h"

namespace berth::core {

/// What a change does not mention stays as it is; another location, storage account, key vault or
/// hbiWorkspace is a Conflict that names it, as in Azure.
Result<model::Workspace> changed_workspace(const model::Workspace& existing,
                                           model::Workspace asked);

}  // namespace berth::core
