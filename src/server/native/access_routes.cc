// SPDX-License-Identifier: Apache-2.0
// /berth/v1: users and their tokens.
#include "base/text.h"
#include "core/rules/workspace_rules.h"
#include "server/door/route.h"
#include "server/plane/access_desk.h"
#include "server/plane/ledger.h"
#include "wire/access.h"
#include "wire/arm/field.h"
#include "wire/arm/resource.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;
using model::Token;
using model::User;

constexpr auto kDefaultLifetime = std::chrono::days(90);

const core::State& state_of(const Call& call) { return call.services.ledger.state(); }

Result<const User*> existing(const Call& call) {
  const std::string& name = call.parameter("user");
  if (const User* user = core::find_user(state_of(call).access, name)) return user;
  return fail(Code::NotFound, fmt::format("no user '{}'", name));
}

json::object shown(const Call& call, const Token& token) {
  const core::State& state = state_of(call);
  json::object object = wire::to_json(token, call.services.clock.now().wall);
  const auto user = state.access.users.find(token.user);
  object["user"] = user == state.access.users.end() ? "" : user->second.name;
  const model::Workspace* workspace =
      core::find_workspace(call.services.ledger.state(), token.workspace);
  object["workspace"] = workspace == nullptr ? json::value(nullptr) : json::value(workspace->name);
  return object;
}

/// The user with their roles: what one asks to know what somebody may do.
json::object shown(const Call& call, const User& user) {
  json::array roles;
  for (const auto& [id, assignment] : state_of(call).access.assignments) {
    if (assignment.user != user.id) continue;
    const model::RoleDefinition* role = core::find_role(assignment.role);
    const model::Workspace* workspace =
        core::find_workspace(call.services.ledger.state(), assignment.workspace);
    roles.push_back({{"role", role == nullptr ? assignment.role : std::string(role->name)},
                     {"workspace",
                      workspace == nullptr ? json::value(nullptr) : json::value(workspace->name)}});
  }
  json::object object = wire::to_json(user);
  object["roles"] = std::move(roles);
  return object;
}

Result<io::Reply> list_users(Call& call) {
  json::array users;
  for (const auto& [id, user] : state_of(call).access.users) users.push_back(shown(call, user));
  return json_reply(200, arm::page(std::move(users)));
}

Result<io::Reply> get_user(Call& call) {
  return json_reply(200, shown(call, *TRY(existing(call))));
}

Result<io::Reply> put_user(Call& call) {
  const std::string display_name = TRY(wire::display_name_from_json(TRY(json_body(call, true))));
  const bool is_new = !existing(call).has_value();
  const User user =
      TRY(call.services.access.put_user(call.parameter("user"), display_name, call.principal.name));
  return json_reply(is_new ? 201 : 200, shown(call, user));
}

/// What becomes of the user's jobs that are not over: ?jobs=cancel or keep.
Result<AccessDesk::UsersJobs> jobs_of(const Call& call) {
  const std::string word = call.query_value("jobs");
  if (word.empty()) return AccessDesk::UsersJobs::Refuse;
  if (word == "cancel") return AccessDesk::UsersJobs::Cancel;
  if (word == "keep") return AccessDesk::UsersJobs::Keep;
  return fail(Code::InvalidArgument, "'jobs' is 'cancel' or 'keep'", "jobs");
}

Result<io::Reply> delete_user(Call& call) {
  const auto jobs = TRY(jobs_of(call));
  const Status deleted = call.services.access.delete_user(call.parameter("user"), jobs);
  if (!deleted && deleted.error().code != Code::NotFound) return fail(deleted.error());
  return io::Reply{.status = 204};
}

Result<io::Reply> list_tokens(Call& call) {
  const std::string wanted = call.query_value("user");
  json::array tokens;
  for (const auto& [id, token] : state_of(call).access.tokens) {
    json::object object = shown(call, token);
    if (!wanted.empty() && !equals_ignoring_case(object["user"].as_string(), wanted)) continue;
    tokens.push_back(std::move(object));
  }
  return json_reply(200, arm::page(std::move(tokens)));
}

/// A name in the default group, or a whole ARM id's worth: what the body calls its workspace.
Result<model::WorkspaceId> workspace_named(const Call& call, const wire::TokenRequest& asked) {
  if (asked.workspace.empty()) return model::WorkspaceId();
  const model::Workspace* workspace = core::find_workspace(
      call.services.ledger.state(), asked.subscription, asked.resource_group, asked.workspace);
  if (workspace != nullptr) return workspace->id;
  return fail(Code::NotFound, fmt::format("no workspace '{}'", asked.workspace), "workspace");
}

/// The client names the token, so that a repeated request makes no second one: it gets a new
/// secret, and whoever heard the old one has nothing.
Result<io::Reply> put_token(Call& call) {
  const User* user = TRY(existing(call));
  const wire::TokenRequest asked = TRY(wire::token_from_json(TRY(json_body(call, true))));
  Token draft{.id = {call.parameter("token")},
              .user = user->id,
              .name = asked.name,
              .created_by = call.principal.name};
  draft.workspace = TRY(workspace_named(call, asked));
  draft.expires_at = asked.expires_at.value_or(call.services.clock.now().wall + kDefaultLifetime);
  const auto made = TRY(call.services.access.make_token(std::move(draft)));
  json::object object = shown(call, made.token);
  object["token"] = made.text;
  io::Reply reply = json_reply(201, object);
  reply.headers.emplace_back("Cache-Control", "no-store");
  return reply;
}

Result<io::Reply> revoke_token(Call& call) {
  const Status revoked = call.services.access.revoke_token({call.parameter("token")});
  if (!revoked && revoked.error().code != Code::NotFound) return fail(revoked.error());
  return io::Reply{.status = 204};
}

constexpr Permission allow(const char* action) { return {Permission::Kind::Action, action}; }

constexpr Route kRoutes[] = {
    {"GET", "/berth/v1/users", allow("Berth/users/read"), BodyKind::None, list_users},
    {"GET", "/berth/v1/users/{user}", allow("Berth/users/read"), BodyKind::None, get_user},
    {"PUT", "/berth/v1/users/{user}", allow("Berth/users/write"), BodyKind::Json, put_user},
    {"DELETE", "/berth/v1/users/{user}", allow("Berth/users/delete"), BodyKind::None, delete_user},
    {"GET", "/berth/v1/tokens", allow("Berth/tokens/read"), BodyKind::None, list_tokens},
    {"PUT", "/berth/v1/users/{user}/tokens/{token}", allow("Berth/tokens/write"), BodyKind::Json,
     put_token},
    {"DELETE", "/berth/v1/tokens/{token}", allow("Berth/tokens/delete"), BodyKind::None,
     revoke_token},
};

}  // namespace

std::span<const Route> access_routes() { return kRoutes; }

}  // namespace berth::server
