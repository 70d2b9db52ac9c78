// SPDX-License-Identifier: Apache-2.0
#include "core/rules/workspace_rules.h"

#include <fmt/format.h>

#include "base/text.h"

namespace berth::core {
namespace {

using model::Workspace;

constexpr std::string_view kFixed[] = {"storageAccount", "keyVault", "hbiWorkspace"};

tl::unexpected<Error> fixed(const Workspace& workspace, std::string_view field,
                            const boost::json::value& present, std::string target) {
  return fail(Code::Conflict,
              fmt::format("the {} of a workspace cannot be changed: '{}' has {}", field,
                          workspace.name, boost::json::serialize(present)),
              std::move(target));
}

}  // namespace

const Workspace* find_workspace(const State& state, std::string_view subscription,
                                std::string_view group, std::string_view name) {
  for (const auto& [id, workspace] : state.workspaces) {
    if (equals_ignoring_case(workspace.name, name) &&
        equals_ignoring_case(workspace.resource_group, group) &&
        equals_ignoring_case(workspace.subscription, subscription)) {
      return &workspace;
    }
  }
  return nullptr;
}

const Workspace* find_workspace(const State& state, const model::WorkspaceId& id) {
  const auto found = state.workspaces.find(id);
  return found == state.workspaces.end() ? nullptr : &found->second;
}

Result<Workspace> changed_workspace(const Workspace& existing, Workspace asked) {
  if (!equals_ignoring_case(asked.location, existing.location)) {
    return fixed(existing, "location", boost::json::value(existing.location), "location");
  }
  for (const std::string_view key : kFixed) {
    const auto* before = existing.recorded.if_contains(key);
    const auto* after = asked.recorded.if_contains(key);
    if (before == nullptr || after == nullptr || *before == *after) continue;
    return fixed(existing, key, *before, fmt::format("properties.{}", key));
  }
  for (const auto& [key, value] : existing.recorded) {
    if (!asked.recorded.contains(key)) asked.recorded[key] = value;
  }
  asked.id = existing.id;
  asked.subscription = existing.subscription;
  asked.resource_group = existing.resource_group;
  asked.name = existing.name;
  asked.location = existing.location;
  asked.retention = existing.retention;
  asked.created_at = existing.created_at;
  return asked;
}

}  // namespace berth::core
