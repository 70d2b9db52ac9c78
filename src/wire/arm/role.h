// SPDX-License-Identifier: Apache-2.0
// Microsoft.Authorization: role definitions and assignments.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "base/result.h"
#include "model/access.h"

namespace berth::wire::arm {

namespace json = boost::json;

/// `scope` is the ARM id of the workspace, or "/subscriptions/<id>" for the installation.
json::object role_definition_json(const model::RoleDefinition& role, const std::string& scope);

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
