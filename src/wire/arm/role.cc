// SPDX-License-Identifier: Apache-2.0
#include "wire/arm/role.h"

#include "base/text.h"
#include "wire/arm/field.h"

namespace berth::wire::arm {
namespace {

constexpr const char* kProvider = "/providers/Microsoft.Authorization/";

json::array array_of(std::span<const std::string_view> texts) {
  json::array array;
  for (const std::string_view text : texts) array.push_back(json::value(text));
  return array;
}

std::string definition_id(const std::string& scope, std::string_view role) {
  return fmt::format("{}{}roleDefinitions/{}", scope, kProvider, role);
}

}  // namespace

json::object role_definition_json(const model::RoleDefinition& role, const std::string& scope) {
  return {{"id", definition_id(scope, role.id)},
          {"name", role.id},
          {"type", "Microsoft.Authorization/roleDefinitions"},
          {"properties",
           {{"roleName", role.name},
            {"type", "BuiltInRole"},
            {"description", role.description},
            {"assignableScopes", json::array{"/"}},
            {"permissions", json::array{json::object{{"actions", array_of(role.actions)},
                                                     {"notActions", array_of(role.not_actions)},
                                                     {"dataActions", json::array()},
                                                     {"notDataActions", json::array()}}}}}}};
}

json::object role_assignment_json(const AssignmentText& text) {
  const model::RoleAssignment& assignment = text.assignment;
  const std::string at = to_iso8601(assignment.created_at);
  return {{"id", fmt::format("{}{}roleAssignments/{}", text.scope, kProvider, assignment.id.text)},
          {"name", assignment.id.text},
          {"type", "Microsoft.Authorization/roleAssignments"},
          {"properties",
           {{"roleDefinitionId", definition_id(text.scope, assignment.role)},
            {"roleDefinitionName", text.role_name},
            {"principalId", assignment.user.text},
            {"principalName", text.user_name},
            {"principalType", "User"},
            {"scope", text.scope},
            {"createdOn", at},
            {"updatedOn", at},
            {"createdBy", assignment.created_by},
            {"updatedBy", assignment.created_by}}}};
}

Result<AssignmentRequest> role_assignment_from_json(const json::value& body) {
  const Fields fields = TRY(Fields::of(body, ""));
  const auto properties = TRY(fields.fields("properties"));
  if (!properties) return fields.wrong("properties", "is missing");
  AssignmentRequest request;
  request.role = TRY(properties->required_text("roleDefinitionId"));
  request.role.erase(0, request.role.rfind('/') + 1);
  request.principal_id = TRY(properties->text("principalId"));
  request.principal_name = TRY(properties->text("principalName"));
  if (request.principal_id.empty() == request.principal_name.empty()) {
    return properties->wrong("principalId", "is the id of a user (or principalName their name)");
  }
  return request;
}

}  // namespace berth::wire::arm
