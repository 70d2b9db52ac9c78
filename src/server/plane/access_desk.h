// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/access.h"
#include "server/plane/desk.h"

namespace berth::server {

class JobsDesk;

/// Users, tokens and roles, as they are asked for. See desk.h.
class AccessDesk {
 public:
  AccessDesk(const DeskParts& parts, JobsDesk& jobs)
      : parts_(parts), state_(parts.ledger.state()), jobs_(jobs) {}

  /// Makes the user, or changes the display name of the one there is. `by` is who asks.
  Result<model::User> put_user(const std::string& name, const std::string& display_name,
                               const std::string& by);
  enum class UsersJobs {
    Refuse,  ///< Conflict when some are not over.
    Cancel,  ///< Their tokens are dead at once.
    Keep,    ///< They go on as they are, tokens and all.
  };
  /// With their tokens and roles. What they submitted stays; `jobs` says what becomes of those of
  /// their jobs that are not over.
  Status delete_user(const std::string& name, UsersJobs jobs = UsersJobs::Refuse);

  struct NewToken {
    model::Token token{};
    std::string text{};  ///< To be shown once: only its hash is kept.
  };
  /// The draft says id, user, name, workspace and expiry. An id that is there gets another secret.
  Result<NewToken> make_token(model::Token draft);
  Status revoke_token(const model::TokenId& token);

  /// The same role of the same user in the same place under another id is a Conflict.
  Result<model::RoleAssignment> assign_role(model::RoleAssignment draft);
  Status remove_role(const model::RoleAssignmentId& assignment);

 private:
  DeskParts parts_;
  const core::State& state_;
  JobsDesk& jobs_;
};

}  // namespace berth::server
