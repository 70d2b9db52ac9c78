// SPDX-License-Identifier: Apache-2.0
// Who may do what: the roles, and the decision. Pure functions.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "model/access.h"

namespace berth::core {

/// Everything that the decision rests on; a part of the State.
struct Access {
  std::map<model::UserId, model::User> users{};
  std::map<model::TokenId, model::Token> tokens{};
  std::map<model::RoleAssignmentId, model::RoleAssignment> assignments{};
};

std::span<const model::RoleDefinition> role_definitions();
/// By name or id, in any case; nullptr when there is none.
const model::RoleDefinition* find_role(std::string_view name_or_id);

/// '*' stands for any text, slashes too. Case does not matter.
bool matches(std::string_view pattern, std::string_view action);
bool grants(const model::RoleDefinition& role, std::string_view action);

/// May the user do this in the workspace? An empty one: in the installation as a whole, for which a
/// role in a workspace is not enough. Roles add up: what one allows, another does not take away.
bool may(const Access& access, const model::UserId& user, std::string_view action,
         const model::WorkspaceId& workspace);
/// In the installation or in any workspace, or in the only one that `within` names.
bool may_somewhere(const Access& access, const model::UserId& user, std::string_view action,
                   const model::WorkspaceId& within);

const model::User* find_user(const Access& access, std::string_view name);

}  // namespace berth::core
