// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/workspace.h"
#include "server/plane/desk.h"

namespace berth::server {

/// Workspaces, as users ask for them. See desk.h.
class WorkspacesDesk {
 public:
  explicit WorkspacesDesk(const DeskParts& parts) : parts_(parts), state_(parts.ledger.state()) {}

  /// Makes it, or updates what may change of the one with the same subscription, group and name.
  Result<model::Workspace> put(model::Workspace workspace);
  /// Refused while it has a compute, or a job that is not over; the default one always stays.
  Status remove(const model::WorkspaceId& workspace);
  Result<model::Workspace> set_retention(const model::WorkspaceId& workspace,
                                         const model::Retention& retention);

 private:
  DeskParts parts_;
  const core::State& state_;
};

}  // namespace berth::server
