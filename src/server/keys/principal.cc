// SPDX-License-Identifier: Apache-2.0
#include "server/keys/principal.h"

#include "core/access.h"

namespace berth::server {
namespace {

bool user_may(const core::State& state, const Principal& principal, const Asked& asked) {
  const Permission& permission = asked.permission;
  if (permission.scope == Permission::Scope::Somewhere) {
    return core::may_somewhere(state.access, principal.user, permission.action, principal.only_in);
  }
  return may(state, principal, permission.action, asked.workspace);
}

/// Another job may have the name, and be at the same attempt: the fence is nobody else's. What an
/// older Berth gave out has none.
bool is_of(const model::Job& job, const Principal& attempt) {
  return job.attempt == attempt.attempt && (attempt.fence.empty() || job.fence == attempt.fence);
}

/// Whoever submitted it was deleted, and it with them: its token ends then, not when its processes
/// do. What the node delivers for it is still taken.
bool is_disowned(const core::State& state, const model::Job& job, const Principal& principal) {
  return principal.kind == Principal::Kind::Job && job.cancel_requested &&
         job.created_by != model::kOwnerName &&
         core::find_user(state.access, job.created_by) == nullptr;
}

bool job_may(const Principal& job, const Asked& asked) {
  if (asked.workspace != job.job.workspace) return false;
  const bool is_itself = asked.permission.is_for_own_job && asked.job == job.job.name;
  return is_itself || asked.permission.is_for_jobs;
}

}  // namespace

bool may(const core::State& state, const Principal& principal, std::string_view action,
         const model::WorkspaceId& workspace) {
  if (principal.kind == Principal::Kind::Owner) return true;
  if (principal.user.text.empty()) return false;
  const bool is_within = principal.only_in.text.empty() || principal.only_in == workspace;
  return is_within && core::may(state.access, principal.user, action, workspace);
}

bool is_current(const core::State& state, const Principal& principal, WallTime now) {
  if (!principal.token.text.empty()) {
    const auto token = state.access.tokens.find(principal.token);
    return token != state.access.tokens.end() && token->second.user == principal.user &&
           token->second.created_at == principal.issued_at && now < token->second.expires_at;
  }
  if (!principal.job.name.empty()) {
    const auto job = state.jobs.find(principal.job);
    return job != state.jobs.end() && is_of(job->second, principal) &&
           model::holds_anything(job->second) && !is_disowned(state, job->second, principal);
  }
  return true;
}

bool allows(const core::State& state, const Principal& principal, const Asked& asked) {
  const Permission::Kind kind = asked.permission.kind;
  if (kind == Permission::Kind::Public) return true;
  if (kind == Permission::Kind::Node) return principal.kind == Principal::Kind::Node;
  if (kind == Permission::Kind::Identity) {
    return principal.kind == Principal::Kind::Owner || principal.kind == Principal::Kind::User;
  }
  switch (principal.kind) {
    case Principal::Kind::Owner: return true;
    case Principal::Kind::User: return user_may(state, principal, asked);
    case Principal::Kind::Job: return job_may(principal, asked);
    case Principal::Kind::Signature:
      return kind == Permission::Kind::Signature &&
             (principal.user.text.empty() || user_may(state, principal, asked));
    case Principal::Kind::Node:
    case Principal::Kind::Nobody: return false;
  }
  return false;
}

}  // namespace berth::server
