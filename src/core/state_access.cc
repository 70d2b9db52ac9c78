// SPDX-License-Identifier: Apache-2.0
// What events do to users, tokens and roles.
#include "core/apply.h"

namespace berth::core {
namespace {

/// Tokens and roles that `is_gone` says it of, with what must be written.
template <typename IsGone>
void remove_where(Access& access, IsGone is_gone, Touched& touched) {
  std::erase_if(access.tokens, [&](const auto& entry) {
    if (!is_gone(entry.second)) return false;
    touched.of<model::Token>().insert(entry.first);
    return true;
  });
  std::erase_if(access.assignments, [&](const auto& entry) {
    if (!is_gone(entry.second)) return false;
    touched.of<model::RoleAssignment>().insert(entry.first);
    return true;
  });
}

/// A user that is there, and a workspace that is, if one is named.
template <typename Thing>
bool has_place(const State& state, const Thing& thing) {
  const bool is_anywhere = thing.workspace.text.empty();
  return state.access.users.contains(thing.user) &&
         (is_anywhere || state.workspaces.contains(thing.workspace));
}

}  // namespace

Touched on(State& state, const UserMade& event) {
  state.access.users[event.user.id] = event.user;
  return touching<model::User>(event.user.id);
}

Touched on(State& state, const UserDeleted& event) {
  if (state.access.users.erase(event.user) == 0) return {};
  Touched touched = touching<model::User>(event.user);
  remove_where(
      state.access, [&](const auto& thing) { return thing.user == event.user; }, touched);
  return touched;
}

Touched on(State& state, const TokenMade& event) {
  if (!has_place(state, event.token)) return {};
  state.access.tokens[event.token.id] = event.token;
  return touching<model::Token>(event.token.id);
}

Touched on(State& state, const TokenRevoked& event) {
  if (state.access.tokens.erase(event.token) == 0) return {};
  return touching<model::Token>(event.token);
}

Touched on(State& state, const RoleAssigned& event) {
  if (!has_place(state, event.assignment)) return {};
  state.access.assignments[event.assignment.id] = event.assignment;
  return touching<model::RoleAssignment>(event.assignment.id);
}

Touched on(State& state, const RoleRemoved& event) {
  if (state.access.assignments.erase(event.assignment) == 0) return {};
  return touching<model::RoleAssignment>(event.assignment);
}

void forget_access(State& state, const model::WorkspaceId& workspace, Touched& touched) {
  remove_where(
      state.access, [&](const auto& thing) { return thing.workspace == workspace; }, touched);
}

}  // namespace berth::core
