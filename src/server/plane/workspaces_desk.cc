// SPDX-License-Identifier: Apache-2.0
#include "server/plane/workspaces_desk.h"

#include <fmt/format.h>

#include "base/random.h"
#include "base/text.h"
#include "core/rules/retention.h"
#include "core/rules/workspace_rules.h"

namespace berth::server {

using model::Workspace;
using model::WorkspaceId;

Result<Workspace> WorkspacesDesk::put(Workspace workspace) {
  const Workspace* existing = core::find_workspace(state_, workspace.subscription,
                                                   workspace.resource_group, workspace.name);
  if (existing != nullptr) {
    workspace = TRY(core::changed_workspace(*existing, std::move(workspace)));
  } else {
    if (!is_resource_name(workspace.name)) {
      return fail(Code::InvalidArgument,
                  fmt::format("'{}' is not a workspace name", workspace.name), "name");
    }
    workspace.id = {random_uuid()};
    workspace.created_at = parts_.clock.now().wall;
  }
  parts_.ledger.apply(core::WorkspaceMade{workspace});
  parts_.ledger.flush();
  return workspace;
}

Result<Workspace> WorkspacesDesk::set_retention(const WorkspaceId& id,
                                                const model::Retention& retention) {
  const Workspace* found = core::find_workspace(state_, id);
  if (found == nullptr) return fail(Code::NotFound, "no such workspace");
  TRY(core::check_retention(retention));
  Workspace workspace = *found;
  workspace.retention = retention;
  if (retention != found->retention) parts_.ledger.apply(core::WorkspaceMade{workspace});
  parts_.ledger.flush();
  return workspace;
}

Status WorkspacesDesk::remove(const WorkspaceId& workspace) {
  const Workspace* found = core::find_workspace(state_, workspace);
  if (found == nullptr) return Done{};
  if (found->name == model::kDefaultWorkspace &&
      found->resource_group == model::kDefaultResourceGroup) {
    return fail(Code::Conflict, "the default workspace cannot be deleted");
  }
  for (const auto& [key, compute] : state_.computes) {
    if (key.workspace == workspace) {
      return fail(Code::Conflict,
                  fmt::format("workspace '{}' still has compute '{}': delete it first", found->name,
                              compute.name));
    }
  }
  for (const auto& [key, job] : state_.jobs) {
    if (key.workspace == workspace && !model::is_terminal(job.status)) {
      return fail(Code::Conflict,
                  fmt::format("workspace '{}' still has work: cancel job '{}' first", found->name,
                              key.name));
    }
  }
  parts_.ledger.apply(core::WorkspaceDeleted{workspace});
  parts_.ledger.flush();
  return Done{};
}

}  // namespace berth::server
