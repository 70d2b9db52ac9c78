// SPDX-License-Identifier: Apache-2.0
// Microsoft.Authorization: role definitions and assignments.
#pragma once

#include <boost/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/access.h"

namespace berth::wire::arm {

namespace json = boost::json;

/// What the formats need to know of a role.
struct RoleText {
  std::string_view id;
  std::string_view name;
  std::string_view description;
  std::span<const std::string_view> actions;
  std::span<const std::string_view> not_actions;
};

/// `scope` is the ARM id of the workspace, or "/subscriptions/<id>" for the installation.
json::object role_definition_json(const RoleText& role, const std::string& scope);

struct AssignmentText {
  const model::RoleAssignment& assignment;
  std::string scope{};
  std::string user_name{};
  std::string role_name{};
};
json::object role_assignment_json(const AssignmentText& text);

/// What a PUT asks for. The address says where, and nothing else of the body counts.
struct AssignmentRequest {
  std::string role{};            ///< The last segment of roleDefinitionId.
  std::string principal_id{};    ///< A user's id; or
  std::string principal_name{};  ///< their name, which is Berth's own key.
};
Result<AssignmentRequest> role_assignment_from_json(const json::value& body);

}  // namespace berth::wire::arm
