// SPDX-License-Identifier: Apache-2.0
// Workspaces, and what every resource has: its id, its type, who made it when.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "wire/arm/envelope.h"
#include "wire/arm/field.h"
#include "wire/arm/resource.h"

namespace berth::wire::arm {
namespace {

constexpr std::string_view kNoTenant = "00000000-0000-0000-0000-000000000000";

/// Clients print these ids and some take them apart; nothing lies behind them.
std::string dependent_id(const model::Workspace& workspace, std::string_view type) {
  return fmt::format("/subscriptions/{}/resourceGroups/{}/providers/{}/{}", workspace.subscription,
                     workspace.resource_group, type, workspace.name);
}

/// What means something in Azure only. What would promise a protection, such as a closed network,
/// is not among these: it is shown as it is here.
constexpr std::string_view kRecordedTexts[] = {
    "storageAccount",    "keyVault",          "applicationInsights",
    "containerRegistry", "imageBuildCompute", "primaryUserAssignedIdentity"};

Status read_recorded(const Fields& from, json::object& kept) {
  for (const std::string_view key : kRecordedTexts) {
    const std::string text = TRY(from.text(key));
    if (!text.empty()) kept[key] = text;
  }
  if (from.find("hbiWorkspace") != nullptr) {
    kept["hbiWorkspace"] = TRY(from.boolean("hbiWorkspace", false));
  }
  return Done{};
}

/// Only the rules there are.
json::object retention_json(const model::Retention& retention) {
  json::object rules;
  const auto add = [&](const char* key, const std::optional<std::chrono::seconds>& time) {
    if (time) rules[key] = to_iso8601(*time);
  };
  add("keepJobs", retention.keep_jobs);
  add("keepFailed", retention.keep_failed);
  add("keepLogs", retention.keep_logs);
  return rules;
}

/// Berth's own: what the tokens of jobs reach.
Result<model::JobAccess> read_job_access(const Fields& from) {
  const std::string text = TRY(from.text("jobAccess"));
  if (text.empty()) return model::JobAccess::Own;
  for (const auto access :
       {model::JobAccess::Own, model::JobAccess::Read, model::JobAccess::Write}) {
    if (equals_ignoring_case(text, boost::describe::enum_to_string(access, ""))) return access;
  }
  return from.wrong("jobAccess", "is own, read or write");
}

json::object workspace_properties(const model::Workspace& workspace, const Addresses& addresses) {
  json::object properties = {
      {"workspaceId", workspace.id.text},
      {"friendlyName", workspace.display_name.empty() ? workspace.name : workspace.display_name},
      {"description", workspace.description},
      {"storageAccount", dependent_id(workspace, "Microsoft.Storage/storageAccounts")},
      {"keyVault", dependent_id(workspace, "Microsoft.KeyVault/vaults")},
      {"discoveryUrl", addresses.base_url + "/discovery"},
      {"mlFlowTrackingUri", addresses.base_url + model::mlflow_path(workspace)},
      {"provisioningState", "Succeeded"},
      {"publicNetworkAccess", "Enabled"},
      {"tenantId", kNoTenant},
      {"hbiWorkspace", false},
      {"v1LegacyMode", false},
      {"storageHnsEnabled", false},
      {"privateLinkCount", 0},
      {"privateEndpointConnections", json::array()},
      {"jobAccess", to_lower(boost::describe::enum_to_string(workspace.job_access, ""))},
  };
  for (const auto& [key, value] : workspace.recorded) properties[key] = value;
  if (workspace.retention != model::Retention{}) {
    properties["berthRetention"] = retention_json(workspace.retention);
  }
  return properties;
}

}  // namespace

json::object system_data(WallTime created_at, WallTime modified_at, const std::string& created_by) {
  const std::string by = created_by.empty() ? "berth" : created_by;
  return {
      {"createdAt", to_iso8601(created_at)},
      {"createdBy", by},
      {"createdByType", "User"},
      {"lastModifiedAt", to_iso8601(std::max(created_at, modified_at))},
      {"lastModifiedBy", by},
      {"lastModifiedByType", "User"},
  };
}

json::object envelope(const std::string& id, const std::string& name, std::string_view type_below) {
  return {{"id", id},
          {"name", name},
          {"type", "Microsoft.MachineLearningServices/workspaces" + std::string(type_below)}};
}

json::object to_json(const model::Workspace& workspace, const Addresses& addresses) {
  json::object resource = envelope(model::arm_id(workspace), workspace.name, "");
  resource["location"] = workspace.location;
  resource["kind"] = "Default";
  resource["sku"] = {{"name", "Basic"}, {"tier", "Basic"}};
  resource["identity"] = {
      {"type", "SystemAssigned"}, {"principalId", kNoTenant}, {"tenantId", kNoTenant}};
  resource["tags"] = to_json(workspace.tags);
  resource["properties"] = workspace_properties(workspace, addresses);
  resource["systemData"] = system_data(workspace.created_at, workspace.created_at, "");
  return resource;
}

Result<model::Workspace> workspace_from_json(const json::value& body) {
  const Fields fields = TRY(Fields::of(body, ""));
  model::Workspace workspace;
  const std::string location = TRY(fields.text("location"));
  if (!location.empty()) workspace.location = location;
  workspace.tags = TRY(fields.text_map("tags"));
  if (const auto properties = TRY(fields.fields("properties"))) {
    workspace.display_name = TRY(properties->text("friendlyName"));
    workspace.description = TRY(properties->text("description"));
    workspace.job_access = TRY(read_job_access(*properties));
    TRY(read_recorded(*properties, workspace.recorded));
  }
  return workspace;
}

Result<model::Workspace> workspace_from_resource(const json::value& resource) {
  model::Workspace workspace = TRY(workspace_from_json(resource));
  const Fields fields = TRY(Fields::of(resource, ""));
  const std::string id = TRY(fields.required_text("id"));
  const auto segments = split(id, '/');
  if (segments.size() != 9) return fields.wrong("id", "is not the id of a workspace");
  workspace.subscription = segments[2];
  workspace.resource_group = segments[4];
  workspace.name = segments[8];
  if (const auto properties = TRY(fields.fields("properties"))) {
    workspace.id.text = TRY(properties->text("workspaceId"));
  }
  if (const auto system = TRY(fields.fields("systemData"))) {
    workspace.created_at = TRY(time_field(*system, "createdAt")).value_or(WallTime{});
  }
  return workspace;
}

Result<std::optional<WallTime>> time_field(const Fields& fields, std::string_view key) {
  const std::string text = TRY(fields.text(key));
  if (text.empty()) return std::optional<WallTime>();
  const Result<WallTime> time = wall_time_from_iso8601(text);
  if (!time) return fields.wrong(key, "must be a time such as 2026-11-16T00:45:12Z");
  return std::optional<WallTime>(*time);
}

json::object page(json::array values, const std::string& next_link) {
  json::object result = {{"value", std::move(values)}};
  if (!next_link.empty()) result["nextLink"] = next_link;
  return result;
}

}  // namespace berth::wire::arm
