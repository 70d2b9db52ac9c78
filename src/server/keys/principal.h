// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/state.h"
#include "model/access.h"
#include "model/job.h"
#include "model/node.h"

namespace berth::server {

/// Who is asking.
struct Principal {
  enum class Kind {
    Nobody,
    Owner,
    User,
    Node,
    Job,        ///< A token that lives as long as the attempt.
    Signature,  ///< A signed URL; on behalf of the user or the attempt it was given to, if any.
  };
  Kind kind = Kind::Nobody;
  std::string name{};    ///< For people and the audit log.
  model::NodeId node{};  ///< Kind::Node.
  model::JobKey job{};   ///< Kind::Job.
  int attempt = 0;
  std::string fence{};  ///< Of the attempt; empty in what an older Berth has given out.

  model::UserId user{};  ///< Kind::User.
  model::TokenId token{};
  WallTime issued_at{};          ///< Of the token: one that was given another secret is another.
  model::WorkspaceId only_in{};  ///< Not empty: the token is good for this workspace only.
};

/// What a route asks of its caller. `action` is Azure's name for it, where Azure has one; roles are
/// sets of actions (core/access.h).
struct Permission {
  enum class Kind {
    Public,     ///< Discovery and liveness: tells nothing a stranger may not know.
    Action,     ///< A bearer token whose holder may do `action`.
    Node,       ///< A node's own token.
    Signature,  ///< A signed URL, or a bearer token as for Action.
    Identity,   ///< The owner's or a user's own token, in the header of managed identities.
  };
  enum class Scope {
    Address,    ///< In the workspace that the address names; without one, in the installation.
    Somewhere,  ///< In any workspace: the handler shows and touches only what the caller may.
  };
  Kind kind = Kind::Action;
  const char* action = "";
  Scope scope = Scope::Address;
  bool is_for_own_job = false;  ///< A job may do it to the job {name}, if that is itself.
  bool is_for_jobs = false;     ///< A job may do it in its own workspace.
};

/// May the owner or a user do this there? An empty workspace: in the installation as a whole.
bool may(const core::State& state, const Principal& principal, std::string_view action,
         const model::WorkspaceId& workspace);

/// Is what the principal has shown still good? Tokens expire and are revoked, attempts end.
bool is_current(const core::State& state, const Principal& principal, WallTime now);

/// What is asked: the route's permission, in this workspace (empty: none), of this job (or none).
struct Asked {
  Permission permission{};
  model::WorkspaceId workspace{};
  std::string job{};
};

/// May they? For the holder of a signature this is only whether whoever it was given to still may;
/// what is in it is checked in blob_access.h.
bool allows(const core::State& state, const Principal& principal, const Asked& asked);

}  // namespace berth::server
