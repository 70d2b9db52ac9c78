// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "server/door/paging.h"
#include "server/door/route.h"
#include "server/plane/ledger.h"
#include "server/plane/workspaces_desk.h"
#include "server/storage/storage_keeper.h"
#include "wire/arm/resource.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;
using model::Workspace;

constexpr const char* kRead = "Microsoft.MachineLearningServices/workspaces/read";

json::object shown(const Call& call, const Workspace& workspace) {
  return arm::to_json(workspace, {.base_url = call.base_url()});
}

/// All workspaces of a subscription, or of one of its resource groups, that the caller may see.
Result<io::Reply> list_where(const Call& call, const std::string* group) {
  const auto skip = static_cast<std::size_t>(TRY(continuation(call)));
  json::array values;
  std::size_t index = 0;
  for (const auto& [id, workspace] : call.services.ledger.state().workspaces) {
    if (!equals_ignoring_case(workspace.subscription, call.parameter("subscriptionId"))) continue;
    if (!call.may(kRead, workspace.id)) continue;
    if (group != nullptr && !equals_ignoring_case(workspace.resource_group, *group)) continue;
    if (index++ < skip) continue;
    if (values.size() == kDefaultPage) {
      const std::string next = next_link(call, static_cast<std::int64_t>(skip + kDefaultPage));
      return json_reply(200, arm::page(std::move(values), next));
    }
    values.push_back(shown(call, workspace));
  }
  return json_reply(200, arm::page(std::move(values)));
}

Result<io::Reply> list_of_subscription(Call& call) { return list_where(call, nullptr); }

Result<io::Reply> list_of_group(Call& call) {
  return list_where(call, &call.parameter("resourceGroupName"));
}

Result<const Workspace*> existing(const Call& call) {
  if (call.workspace != nullptr) return call.workspace;
  return fail(Code::NotFound,
              fmt::format("no workspace '{}' in resource group '{}'",
                          call.parameter("workspaceName"), call.parameter("resourceGroupName")));
}

Result<io::Reply> get(Call& call) { return json_reply(200, shown(call, *TRY(existing(call)))); }

bool mentions(const json::value& body, std::string_view property) {
  const json::value* properties = body.get_object().if_contains("properties");
  return properties != nullptr && properties->is_object() &&
         properties->get_object().contains(property);
}

Result<io::Reply> put(Call& call) {
  const json::value body = TRY(json_body(call));
  Workspace workspace = TRY(arm::workspace_from_json(body));
  workspace.subscription = call.parameter("subscriptionId");
  workspace.resource_group = call.parameter("resourceGroupName");
  workspace.name = call.parameter("workspaceName");
  const bool is_new = call.workspace == nullptr;
  if (!is_new && !body.get_object().contains("location")) {
    workspace.location = call.workspace->location;
  }
  if (!is_new && !mentions(body, "jobAccess")) workspace.job_access = call.workspace->job_access;
  const Workspace stored = TRY(call.services.workspaces.put(std::move(workspace)));
  return json_reply(is_new ? 201 : 200, shown(call, stored));
}

/// Only what the body mentions changes.
Result<io::Reply> patch(Call& call) {
  const json::value body = TRY(json_body(call));
  const Workspace asked = TRY(arm::workspace_from_json(body));
  Workspace workspace = *TRY(existing(call));
  if (body.get_object().contains("tags")) workspace.tags = asked.tags;
  const json::value* properties = body.get_object().if_contains("properties");
  if (properties != nullptr && properties->is_object()) {
    if (properties->get_object().contains("friendlyName")) {
      workspace.display_name = asked.display_name;
    }
    if (properties->get_object().contains("description")) workspace.description = asked.description;
    if (mentions(body, "jobAccess")) workspace.job_access = asked.job_access;
    for (const auto& [key, value] : asked.recorded) workspace.recorded[key] = value;
  }
  return json_reply(200, shown(call, TRY(call.services.workspaces.put(std::move(workspace)))));
}

Result<io::Reply> remove(Call& call) {
  if (call.workspace != nullptr) TRY(call.services.workspaces.remove(call.workspace->id));
  if (call.services.storage != nullptr) call.services.storage->files_went();
  return io::Reply{.status = 204};
}

constexpr const char* kWrite = "Microsoft.MachineLearningServices/workspaces/write";
constexpr const char* kDelete = "Microsoft.MachineLearningServices/workspaces/delete";

constexpr const char* kOfGroup =
    "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/"
    "Microsoft.MachineLearningServices/workspaces";
constexpr const char* kOfSubscription =
    "/subscriptions/{subscriptionId}/providers/Microsoft.MachineLearningServices/workspaces";

constexpr Permission allow(const char* action) { return {Permission::Kind::Action, action}; }
constexpr Permission kList = {Permission::Kind::Action, kRead, Permission::Scope::Somewhere};

// The handlers of "W" itself are called for workspaces that are not there, too.
constexpr Route kRoutes[] = {
    {"GET", kOfSubscription, kList, BodyKind::None, list_of_subscription},
    {"GET", kOfGroup, kList, BodyKind::None, list_of_group},
    {"GET", "W", allow(kRead), BodyKind::None, get},
    {"PUT", "W", allow(kWrite), BodyKind::Json, put},
    {"PATCH", "W", allow(kWrite), BodyKind::Json, patch},
    {"DELETE", "W", allow(kDelete), BodyKind::None, remove},
};

}  // namespace

std::span<const Route> workspace_routes() { return kRoutes; }

}  // namespace berth::server
