// SPDX-License-Identifier: Apache-2.0
#include "server/arm/resource_groups.h"

#include "base/text.h"
#include "server/door/route.h"
#include "server/plane/ledger.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;
using model::ResourceGroup;

bool is_called(const ResourceGroup& group, std::string_view name) {
  return equals_ignoring_case(group.name, name);
}

std::vector<const model::Workspace*> workspaces_in(const Services& services,
                                                   std::string_view subscription,
                                                   std::string_view group) {
  std::vector<const model::Workspace*> found;
  for (const auto& [id, workspace] : services.ledger.state().workspaces) {
    if (equals_ignoring_case(workspace.subscription, subscription) &&
        equals_ignoring_case(workspace.resource_group, group)) {
      found.push_back(&workspace);
    }
  }
  return found;
}

constexpr const char* kWorkspaceRead = "Microsoft.MachineLearningServices/workspaces/read";
constexpr const char* kGroupRead = "Microsoft.Resources/subscriptions/resourceGroups/read";

/// Whoever may see a workspace may see the group that it is in.
bool may_see(const Call& call, const ResourceGroup& group) {
  if (call.may(kGroupRead, {})) return true;
  const auto inside = workspaces_in(call.services, group.subscription, group.name);
  return std::ranges::any_of(inside, [&](const model::Workspace* workspace) {
    return call.may(kWorkspaceRead, workspace->id);
  });
}

Result<ResourceGroup> existing(Call& call) {
  const std::string& name = call.parameter("resourceGroupName");
  const auto found = TRY(find_group(call.services, call.parameter("subscriptionId"), name));
  if (found && may_see(call, *found)) return *found;
  return fail(Code::NotFound, fmt::format("no resource group '{}'", name));
}

Result<io::Reply> get(Call& call) { return json_reply(200, arm::to_json(TRY(existing(call)))); }

/// ARM says whether it is there with 204 or 404.
Result<io::Reply> exists(Call& call) {
  if (existing(call)) return io::Reply{.status = 204};
  return io::Reply{.status = 404};
}

Result<io::Reply> list(Call& call) {
  json::array values;
  for (const ResourceGroup& group :
       TRY(groups_of(call.services, call.parameter("subscriptionId")))) {
    if (may_see(call, group)) values.push_back(arm::to_json(group));
  }
  return json_reply(200, arm::page(std::move(values)));
}

Result<io::Reply> put(Call& call) {
  ResourceGroup group = TRY(arm::resource_group_from_json(TRY(json_body(call))));
  const auto found = TRY(find_group(call.services, call.parameter("subscriptionId"),
                                    call.parameter("resourceGroupName")));
  group.subscription = call.parameter("subscriptionId");
  group.name = found ? found->name : call.parameter("resourceGroupName");
  io::Reply reply = json_reply(found ? 200 : 201, arm::to_json(group));
  call.services.ledger.write({store::PutResourceGroup{std::move(group)}});
  return reply;
}

/// Its tags; a group stays where it is.
Result<io::Reply> patch(Call& call) {
  const json::value body = TRY(json_body(call));
  const ResourceGroup asked = TRY(arm::resource_group_from_json(body));
  ResourceGroup group = TRY(existing(call));
  if (body.get_object().contains("tags")) group.tags = asked.tags;
  io::Reply reply = json_reply(200, arm::to_json(group));
  call.services.ledger.write({store::PutResourceGroup{std::move(group)}});
  return reply;
}

/// Only an empty one: what is in a workspace is not deleted in passing.
Result<io::Reply> remove(Call& call) {
  const ResourceGroup group = TRY(existing(call));
  const auto inside = workspaces_in(call.services, group.subscription, group.name);
  if (!inside.empty()) {
    return fail(Code::Conflict,
                fmt::format("the resource group '{}' has {} workspaces, '{}' among them; delete "
                            "them first",
                            group.name, inside.size(), inside.front()->name));
  }
  call.services.ledger.write({store::DeleteResourceGroup{group}});
  return io::Reply{.status = 200};
}

constexpr Permission allow(const char* action) { return {Permission::Kind::Action, action}; }
constexpr Permission kRead = {Permission::Kind::Action, kWorkspaceRead,
                              Permission::Scope::Somewhere};
constexpr Permission kWrite = allow("Microsoft.Resources/subscriptions/resourceGroups/write");
constexpr Permission kDelete = allow("Microsoft.Resources/subscriptions/resourceGroups/delete");

constexpr const char* kGroups = "/subscriptions/{subscriptionId}/resourceGroups";
constexpr const char* kGroup = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}";

constexpr Route kRoutes[] = {
    {"GET", kGroups, kRead, BodyKind::None, list},
    {"GET", kGroup, kRead, BodyKind::None, get},
    {"HEAD", kGroup, kRead, BodyKind::None, exists},
    {"PUT", kGroup, kWrite, BodyKind::Json, put},
    {"PATCH", kGroup, kWrite, BodyKind::Json, patch},
    {"DELETE", kGroup, kDelete, BodyKind::None, remove},
};

}  // namespace

Result<std::vector<ResourceGroup>> groups_of(Services& services, const std::string& subscription) {
  std::vector<ResourceGroup> groups;
  for (ResourceGroup& group : TRY(services.store.deployments().groups())) {
    if (equals_ignoring_case(group.subscription, subscription)) groups.push_back(std::move(group));
  }
  for (const auto& [id, workspace] : services.ledger.state().workspaces) {
    if (!equals_ignoring_case(workspace.subscription, subscription)) continue;
    const bool is_known = std::ranges::any_of(groups, [&](const ResourceGroup& group) {
      return is_called(group, workspace.resource_group);
    });
    if (is_known) continue;
    groups.push_back({.subscription = workspace.subscription,
                      .name = workspace.resource_group,
                      .location = workspace.location});
  }
  return groups;
}

Result<std::optional<ResourceGroup>> find_group(Services& services, const std::string& subscription,
                                                const std::string& name) {
  for (const ResourceGroup& group : TRY(groups_of(services, subscription))) {
    if (is_called(group, name)) return std::optional<ResourceGroup>(group);
  }
  return std::optional<ResourceGroup>();
}

std::string location_of(Services& services, const DeploymentName& name) {
  const auto group = find_group(services, name.subscription, name.resource_group);
  return group && *group ? (*group)->location : ResourceGroup().location;
}

std::span<const Route> resource_group_routes() { return kRoutes; }

}  // namespace berth::server
