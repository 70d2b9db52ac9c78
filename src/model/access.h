// SPDX-License-Identifier: Apache-2.0
// People, what they prove themselves with, and what they may do.
#pragma once

#include <boost/describe.hpp>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/id.h"
#include "model/workspace.h"

namespace berth::model {

/// A GUID: ARM's "principalId". A name can be used again after a delete; an id never is.
using UserId = Id<struct UserTag>;
/// 16 lower-case hex digits; the part of a token that is no secret.
using TokenId = Id<struct TokenTag>;
/// A GUID: the name of ARM's role assignment.
using RoleAssignmentId = Id<struct RoleAssignmentTag>;

/// One of Azure's built-in roles. Allowed is what an action matches and no not_action does.
struct RoleDefinition {
  std::string_view id;
  std::string_view name;
  std::string_view description;
  std::span<const std::string_view> actions;
  std::span<const std::string_view> not_actions;
};

/// Whoever started the installation. Has no row: its token is in a file of the state directory.
inline constexpr const char* kOwnerName = "owner";

struct User {
  UserId id{};
  std::string name{};
  std::string display_name{};
  std::string created_by{};
  WallTime created_at{};
};
BOOST_DESCRIBE_STRUCT(User, (), (id, name, display_name, created_by, created_at))

/// What a user shows at the door: "berth-user.<id>.<secret>". Only the secret's hash is kept.
struct Token {
  TokenId id{};
  UserId user{};
  std::string name{};  ///< For people: what it is used for.
  std::string hash{};  ///< SHA-256 of the secret, in hex.
  /// Not empty: good for this workspace only, whatever else its user may do.
  WorkspaceId workspace{};
  std::string created_by{};
  WallTime created_at{};
  WallTime expires_at{};
};
BOOST_DESCRIBE_STRUCT(Token, (),
                      (id, user, name, hash, workspace, created_by, created_at, expires_at))

/// A user's role in a workspace or, with an empty one, in the whole installation.
struct RoleAssignment {
  RoleAssignmentId id{};
  UserId user{};
  std::string role{};  ///< The id of the role's definition (core/access.h).
  WorkspaceId workspace{};
  std::string created_by{};
  WallTime created_at{};
};
BOOST_DESCRIBE_STRUCT(RoleAssignment, (), (id, user, role, workspace, created_by, created_at))

}  // namespace berth::model
