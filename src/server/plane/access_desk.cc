// SPDX-License-Identifier: Apache-2.0
#include "server/plane/access_desk.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/random.h"
#include "base/text.h"
#include "server/keys/user_token.h"
#include "server/plane/jobs_desk.h"

namespace berth::server {
namespace {

using model::RoleAssignment;
using model::Token;
using model::User;

constexpr std::size_t kMostTokens = 100;  ///< Of one user.
constexpr std::size_t kMostUsers = 10'000;
constexpr std::size_t kLongestLabel = 256;

/// Names that the audit log and `created_by` have for others than users.
bool is_reserved(std::string_view name) {
  for (const std::string_view taken : {model::kOwnerName, "nobody", "berth", "signature"}) {
    if (equals_ignoring_case(name, taken)) return true;
  }
  return false;
}

Status check_label(const std::string& text, const char* field) {
  if (text.size() <= kLongestLabel && is_valid_utf8(text)) return Done{};
  return fail(Code::InvalidArgument,
              fmt::format("'{}' is text of at most {} bytes", field, kLongestLabel), field);
}

bool is_token_id(std::string_view text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::vector<model::JobKey> live_jobs_of(const core::State& state, std::string_view user) {
  std::vector<model::JobKey> jobs;
  for (const auto& [key, job] : state.jobs) {
    const bool is_live = !model::is_terminal(job.status);
    if (is_live && equals_ignoring_case(job.created_by, user)) jobs.push_back(key);
  }
  return jobs;
}

tl::unexpected<Error> has_live_jobs(const std::string& user,
                                    const std::vector<model::JobKey>& jobs) {
  const std::string others =
      jobs.size() == 1 ? " is" : fmt::format(" and {} more are", jobs.size() - 1);
  return fail(Code::Conflict,
              fmt::format("user '{}' has work: job '{}'{} not over; say what becomes of it: "
                          "--cancel-jobs (jobs=cancel) ends it, --keep-jobs (jobs=keep) lets it "
                          "go on, with its own token",
                          user, jobs.front().name, others));
}

}  // namespace

Result<User> AccessDesk::put_user(const std::string& name, const std::string& display_name,
                                  const std::string& by) {
  if (!is_resource_name(name) || is_reserved(name)) {
    return fail(Code::InvalidArgument, fmt::format("'{}' cannot be a user's name", name), "name");
  }
  TRY(check_label(display_name, "display_name"));
  User user{
      .id = {random_uuid()}, .name = name, .created_by = by, .created_at = parts_.clock.now().wall};
  if (const User* existing = core::find_user(state_.access, name)) {
    user = *existing;
  } else if (state_.access.users.size() >= kMostUsers) {
    return fail(Code::Conflict, fmt::format("there are {} users already", kMostUsers));
  }
  user.display_name = display_name;
  parts_.ledger.apply(core::UserMade{user});
  parts_.ledger.flush();
  return user;
}

Status AccessDesk::delete_user(const std::string& name, UsersJobs jobs) {
  const User* user = core::find_user(state_.access, name);
  if (user == nullptr) return fail(Code::NotFound, fmt::format("no user '{}'", name));
  const std::vector<model::JobKey> live = live_jobs_of(state_, user->name);
  if (jobs == UsersJobs::Refuse && !live.empty()) return has_live_jobs(user->name, live);
  const model::UserId id = user->id;
  const Together together(parts_.ledger);
  if (jobs == UsersJobs::Cancel) {
    for (const model::JobKey& job : live) TRY(jobs_.cancel(job));
  }
  parts_.ledger.apply(core::UserDeleted{id});
  return Done{};
}

Result<AccessDesk::NewToken> AccessDesk::make_token(Token draft) {
  if (!is_token_id(draft.id.text)) {
    return fail(Code::InvalidArgument, "a token's id is 16 lower-case hex digits", "id");
  }
  TRY(check_label(draft.name, "name"));
  const WallTime now = parts_.clock.now().wall;
  if (draft.expires_at <= now) {
    return fail(Code::InvalidArgument, "the token would have expired already", "expires_at");
  }
  const auto existing = state_.access.tokens.find(draft.id);
  if (existing != state_.access.tokens.end() && existing->second.user != draft.user) {
    return fail(Code::Conflict, fmt::format("token '{}' is another user's", draft.id.text));
  }
  const auto count = std::ranges::count_if(
      state_.access.tokens, [&](const auto& entry) { return entry.second.user == draft.user; });
  if (static_cast<std::size_t>(count) >= kMostTokens) {
    return fail(Code::Conflict,
                fmt::format("the user has {} tokens; revoke one first", kMostTokens));
  }
  const std::string secret = random_hex(32);
  draft.hash = hash_of_secret(secret);
  draft.created_at = now;
  NewToken made{.token = draft, .text = user_token_text(draft.id, secret)};
  parts_.ledger.apply(core::TokenMade{std::move(draft)});
  parts_.ledger.flush();
  return made;
}

Status AccessDesk::revoke_token(const model::TokenId& token) {
  if (!state_.access.tokens.contains(token)) {
    return fail(Code::NotFound, fmt::format("no token '{}'", token.text));
  }
  parts_.ledger.apply(core::TokenRevoked{token});
  parts_.ledger.flush();
  return Done{};
}

Result<RoleAssignment> AccessDesk::assign_role(RoleAssignment draft) {
  const auto is_same = [&](const RoleAssignment& other) {
    return other.user == draft.user && other.role == draft.role &&
           other.workspace == draft.workspace;
  };
  for (const auto& [id, other] : state_.access.assignments) {
    if (id == draft.id && is_same(other)) return other;
    if (id == draft.id) {
      return fail(Code::Conflict, fmt::format("role assignment '{}' is another", id.text));
    }
    if (is_same(other)) {
      return fail(Code::Conflict, fmt::format("the role is assigned already, as '{}'", id.text));
    }
  }
  draft.created_at = parts_.clock.now().wall;
  parts_.ledger.apply(core::RoleAssigned{draft});
  parts_.ledger.flush();
  return draft;
}

Status AccessDesk::remove_role(const model::RoleAssignmentId& assignment) {
  if (!state_.access.assignments.contains(assignment)) {
    return fail(Code::NotFound, fmt::format("no role assignment '{}'", assignment.text));
  }
  parts_.ledger.apply(core::RoleRemoved{assignment});
  parts_.ledger.flush();
  return Done{};
}

}  // namespace berth::server
