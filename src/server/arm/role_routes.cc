// SPDX-License-Identifier: Apache-2.0
// Role definitions and assignments, where ARM clients look for them: below a workspace, and below
// the subscription for the whole installation.
#include "base/text.h"
#include "core/access.h"
#include "core/rules/workspace_rules.h"
#include "server/door/route.h"
#include "server/plane/access_desk.h"
#include "server/plane/ledger.h"
#include "wire/arm/resource.h"
#include "wire/arm/role.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;
using model::RoleAssignment;
using model::User;
using model::WorkspaceId;

const core::Access& access_of(const Call& call) { return call.services.ledger.state().access; }

WorkspaceId place_of(const Call& call) {
  return call.workspace == nullptr ? WorkspaceId() : call.workspace->id;
}

std::string scope_of(const Call& call, const WorkspaceId& place) {
  const model::Workspace* workspace = core::find_workspace(call.services.ledger.state(), place);
  if (workspace != nullptr) return model::arm_id(*workspace);
  return "/subscriptions/" + call.parameter("subscriptionId");
}

json::object shown(const Call& call, const model::RoleDefinition& role) {
  return arm::role_definition_json(role, scope_of(call, place_of(call)));
}

json::object shown(const Call& call, const RoleAssignment& assignment) {
  const auto user = access_of(call).users.find(assignment.user);
  const model::RoleDefinition* role = core::find_role(assignment.role);
  return arm::role_assignment_json(
      {.assignment = assignment,
       .scope = scope_of(call, assignment.workspace),
       .user_name = user == access_of(call).users.end() ? "" : user->second.name,
       .role_name = std::string(role == nullptr ? "" : role->name)});
}

/// Of this workspace and, because they hold in it as well, of the installation.
Result<io::Reply> list(Call& call) {
  const WorkspaceId place = place_of(call);
  json::array values;
  for (const auto& [id, assignment] : access_of(call).assignments) {
    const bool is_everywhere = assignment.workspace.text.empty();
    if (is_everywhere || assignment.workspace == place) values.push_back(shown(call, assignment));
  }
  return json_reply(200, arm::page(std::move(values)));
}

/// Only of the very place: who may act in a workspace does not reach an assignment elsewhere.
Result<const RoleAssignment*> existing(const Call& call) {
  const std::string id = to_lower(call.parameter("roleAssignmentName"));
  const auto found = access_of(call).assignments.find({id});
  if (found != access_of(call).assignments.end() && found->second.workspace == place_of(call)) {
    return &found->second;
  }
  return fail(Code::NotFound, fmt::format("no role assignment '{}' here", id));
}

Result<io::Reply> get(Call& call) { return json_reply(200, shown(call, *TRY(existing(call)))); }

Result<const User*> user_of(const Call& call, const arm::AssignmentRequest& asked) {
  const core::Access& access = access_of(call);
  const auto by_id = access.users.find({to_lower(asked.principal_id)});
  const User* user =
      by_id != access.users.end() ? &by_id->second : core::find_user(access, asked.principal_name);
  if (user != nullptr) return user;
  return fail(Code::InvalidArgument,
              fmt::format("no user '{}{}'", asked.principal_id, asked.principal_name),
              "properties.principalId");
}

Result<io::Reply> put(Call& call) {
  const arm::AssignmentRequest asked = TRY(arm::role_assignment_from_json(TRY(json_body(call))));
  const model::RoleDefinition* role = core::find_role(asked.role);
  if (role == nullptr) {
    return fail(Code::InvalidArgument, fmt::format("no role '{}'", asked.role),
                "properties.roleDefinitionId");
  }
  const User* user = TRY(user_of(call, asked));
  const bool is_new = !existing(call).has_value();
  const RoleAssignment made =
      TRY(call.services.access.assign_role({.id = {to_lower(call.parameter("roleAssignmentName"))},
                                            .user = user->id,
                                            .role = std::string(role->id),
                                            .workspace = place_of(call),
                                            .created_by = call.principal.name}));
  return json_reply(is_new ? 201 : 200, shown(call, made));
}

Result<io::Reply> remove(Call& call) {
  const auto found = existing(call);
  if (!found) return io::Reply{.status = 204};
  const json::object gone = shown(call, **found);
  TRY(call.services.access.remove_role((*found)->id));
  return json_reply(200, gone);
}

/// `$filter=roleName eq 'Reader'`, the one question that clients ask.
Result<io::Reply> list_definitions(Call& call) {
  const std::string filter = call.query_value("$filter");
  json::array values;
  for (const model::RoleDefinition& role : core::role_definitions()) {
    const std::string wanted = fmt::format("roleName eq '{}'", role.name);
    if (filter.empty() || equals_ignoring_case(filter, wanted)) {
      values.push_back(shown(call, role));
    }
  }
  return json_reply(200, arm::page(std::move(values)));
}

Result<io::Reply> get_definition(Call& call) {
  const std::string& id = call.parameter("roleDefinitionId");
  if (const model::RoleDefinition* role = core::find_role(id)) {
    return json_reply(200, shown(call, *role));
  }
  return fail(Code::NotFound, fmt::format("no role definition '{}'", id));
}

constexpr Permission allow(const char* action) { return {Permission::Kind::Action, action}; }

constexpr Permission kRead = allow("Microsoft.Authorization/roleAssignments/read");
constexpr Permission kWrite = allow("Microsoft.Authorization/roleAssignments/write");
constexpr Permission kDelete = allow("Microsoft.Authorization/roleAssignments/delete");
constexpr Permission kReadRoles = allow("Microsoft.Authorization/roleDefinitions/read");

constexpr const char* kHere = "W/providers/Microsoft.Authorization/roleAssignments";
constexpr const char* kOneHere =
    "W/providers/Microsoft.Authorization/roleAssignments/{roleAssignmentName}";
constexpr const char* kEverywhere =
    "/subscriptions/{subscriptionId}/providers/Microsoft.Authorization/roleAssignments";
constexpr const char* kOneEverywhere =
    "/subscriptions/{subscriptionId}/providers/Microsoft.Authorization/roleAssignments/"
    "{roleAssignmentName}";
constexpr const char* kRolesHere = "W/providers/Microsoft.Authorization/roleDefinitions";
constexpr const char* kRoleHere =
    "W/providers/Microsoft.Authorization/roleDefinitions/{roleDefinitionId}";
constexpr const char* kRoles =
    "/subscriptions/{subscriptionId}/providers/Microsoft.Authorization/roleDefinitions";
constexpr const char* kRole =
    "/subscriptions/{subscriptionId}/providers/Microsoft.Authorization/roleDefinitions/"
    "{roleDefinitionId}";

constexpr Route kRoutes[] = {
    {"GET", kHere, kRead, BodyKind::None, list},
    {"GET", kOneHere, kRead, BodyKind::None, get},
    {"PUT", kOneHere, kWrite, BodyKind::Json, put},
    {"DELETE", kOneHere, kDelete, BodyKind::None, remove},
    {"GET", kEverywhere, kRead, BodyKind::None, list},
    {"GET", kOneEverywhere, kRead, BodyKind::None, get},
    {"PUT", kOneEverywhere, kWrite, BodyKind::Json, put},
    {"DELETE", kOneEverywhere, kDelete, BodyKind::None, remove},
    {"GET", kRolesHere, kReadRoles, BodyKind::None, list_definitions},
    {"GET", kRoleHere, kReadRoles, BodyKind::None, get_definition},
    {"GET", kRoles, kReadRoles, BodyKind::None, list_definitions},
    {"GET", kRole, kReadRoles, BodyKind::None, get_definition},
};

}  // namespace

std::span<const Route> role_routes() { return kRoutes; }

}  // namespace berth::server
