// SPDX-License-Identifier: Apache-2.0
#include "core/access.h"

#include <algorithm>

#include "base/text.h"

namespace berth::core {
namespace {

// Azure's ids, names and actions. Where Azure writes "computes/*/write" and means computes/write as
// well, both are here; what Berth has and Azure has not begins with "Berth/".

constexpr std::string_view kEverything[] = {"*"};
constexpr std::string_view kAnyRead[] = {"*/read"};
constexpr std::string_view kNotForContributors[] = {
    "Microsoft.Authorization/*/write", "Microsoft.Authorization/*/delete",
    "Microsoft.Authorization/elevateAccess/action", "Berth/users/*", "Berth/tokens/*"};

constexpr std::string_view kDataScientist[] = {
    "Microsoft.MachineLearningServices/workspaces/read",
    "Microsoft.MachineLearningServices/workspaces/*/read",
    "Microsoft.MachineLearningServices/workspaces/*/action",
    "Microsoft.MachineLearningServices/workspaces/*/delete",
    "Microsoft.MachineLearningServices/workspaces/*/write",
    "Microsoft.MachineLearningServices/locations/*/read",
    "Berth/sites/read",
    "Berth/nodes/read",
    "Berth/usage/read",
    "Berth/storage/read",
    "Berth/secrets/*",
    "Berth/services/*"};
constexpr std::string_view kNotForDataScientists[] = {
    "Microsoft.MachineLearningServices/workspaces/delete",
    "Microsoft.MachineLearningServices/workspaces/write",
    "Microsoft.MachineLearningServices/workspaces/computes/write",
    "Microsoft.MachineLearningServices/workspaces/computes/*/write",
    "Microsoft.MachineLearningServices/workspaces/computes/delete",
    "Microsoft.MachineLearningServices/workspaces/computes/*/delete",
    "Microsoft.MachineLearningServices/workspaces/computes/listKeys/action",
    "Microsoft.MachineLearningServices/workspaces/listKeys/action"};

constexpr std::string_view kComputeOperator[] = {
    "Microsoft.MachineLearningServices/workspaces/read",
    "Microsoft.MachineLearningServices/workspaces/computes/*",
    "Microsoft.MachineLearningServices/workspaces/notebooks/vm/*",
    "Microsoft.MachineLearningServices/locations/*/read",
    "Berth/sites/read",
    "Berth/nodes/*",
    "Berth/usage/read"};
constexpr std::string_view kNotForComputeOperators[] = {
    "Microsoft.MachineLearningServices/workspaces/computes/enableSso/action"};

constexpr model::RoleDefinition kRoles[] = {
    {.id = "8e3af657-a8ff-443c-a75c-2fe8c4bcb635",
     .name = "Owner",
     .description = "Everything, giving roles to others included",
     .actions = kEverything,
     .not_actions = {}},
    {.id = "b24988ac-6180-42a0-ab88-20f7382dd24c",
     .name = "Contributor",
     .description = "Everything but giving roles, users and tokens",
     .actions = kEverything,
     .not_actions = kNotForContributors},
    {.id = "acdd72a7-3385-48ef-bd42-f606fba81ae7",
     .name = "Reader",
     .description = "Sees everything but secrets, changes nothing",
     .actions = kAnyRead,
     .not_actions = {}},
    {.id = "f6c7c914-8db3-469d-8ca1-694a8f32e121",
     .name = "AzureML Data Scientist",
     .description = "All of a workspace but making and deleting computes and the workspace itself",
     .actions = kDataScientist,
     .not_actions = kNotForDataScientists},
    {.id = "e503ece1-11d0-4e8e-8e2c-7a6c3bf38815",
     .name = "AzureML Compute Operator",
     .description = "Makes, changes and deletes computes",
     .actions = kComputeOperator,
     .not_actions = kNotForComputeOperators},
};

bool assignment_allows(const model::RoleAssignment& assignment, std::string_view action) {
  const model::RoleDefinition* role = find_role(assignment.role);
  return role != nullptr && grants(*role, action);
}

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

}  // namespace

std::span<const model::RoleDefinition> role_definitions() { return kRoles; }

const model::RoleDefinition* find_role(std::string_view name_or_id) {
  for (const model::RoleDefinition& role : kRoles) {
    if (equals_ignoring_case(role.id, name_or_id) || equals_ignoring_case(role.name, name_or_id)) {
      return &role;
    }
  }
  return nullptr;
}

// When the rest does not fit behind a star, the star takes one letter more; an earlier star never
// has to, because the last one can take whatever it could.
bool matches(std::string_view pattern, std::string_view action) {
  std::size_t in_pattern = 0;
  std::size_t in_action = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (in_action < action.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      taken = in_action;
    } else if (in_pattern < pattern.size() &&
               lower(pattern[in_pattern]) == lower(action[in_action])) {
      ++in_pattern;
      ++in_action;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      in_action = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

bool grants(const model::RoleDefinition& role, std::string_view action) {
  const auto fits = [action](std::string_view pattern) { return matches(pattern, action); };
  return std::ranges::any_of(role.actions, fits) && std::ranges::none_of(role.not_actions, fits);
}

bool may(const Access& access, const model::UserId& user, std::string_view action,
         const model::WorkspaceId& workspace) {
  return std::ranges::any_of(access.assignments, [&](const auto& entry) {
    const model::RoleAssignment& assignment = entry.second;
    const bool covers = assignment.workspace.text.empty() || assignment.workspace == workspace;
    return covers && assignment.user == user && assignment_allows(assignment, action);
  });
}

bool may_somewhere(const Access& access, const model::UserId& user, std::string_view action,
                   const model::WorkspaceId& within) {
  return std::ranges::any_of(access.assignments, [&](const auto& entry) {
    const model::RoleAssignment& assignment = entry.second;
    const bool covers =
        within.text.empty() || assignment.workspace.text.empty() || assignment.workspace == within;
    return covers && assignment.user == user && assignment_allows(assignment, action);
  });
}

const model::User* find_user(const Access& access, std::string_view name) {
  for (const auto& [id, user] : access.users) {
    if (equals_ignoring_case(user.name, name)) return &user;
  }
  return nullptr;
}

}  // namespace berth::core
