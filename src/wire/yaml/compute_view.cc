// SPDX-License-Identifier: Apache-2.0
// What `az ml compute …` prints: snake_case.
#include <array>

#include "base/clock.h"
#include "base/text.h"
#include "wire/arm/compute.h"
#include "wire/yaml/compute.h"
#include "wire/yaml/value.h"

namespace berth::wire::yaml {
namespace {

namespace json = boost::json;

const json::value kNothing = nullptr;

/// The value at a dotted path; null when there is none.
const json::value& look_up(const json::object& object, std::string_view path) {
  const json::object* step = &object;
  const json::value* found = &kNothing;
  for (const std::string_view key : split(path, '.')) {
    found = step == nullptr ? nullptr : step->if_contains(key);
    if (found == nullptr) return kNothing;
    step = found->if_object();
  }
  return *found;
}

std::string text_at(const json::object& object, std::string_view path) {
  const json::value& value = look_up(object, path);
  return value.is_string() ? std::string(value.get_string()) : std::string();
}

void put(json::object& view, std::string_view key, const json::value& value) {
  if (!value.is_null()) view[key] = value;
}

struct Line {
  std::string_view key;
  std::string_view path;
};
constexpr std::array<Line, 14> kLines = {{
    {"id", "id"},
    {"name", "name"},
    {"location", "location"},
    {"created_on", "properties.createdOn"},
    {"provisioning_state", "properties.provisioningState"},
    {"size", "properties.properties.vmSize"},
    {"slots", "properties.properties.slots"},
    {"min_instances", "properties.properties.scaleSettings.minNodeCount"},
    {"max_instances", "properties.properties.scaleSettings.maxNodeCount"},
    {"enable_node_public_ip", "properties.properties.enableNodePublicIp"},
    {"allocation_state", "properties.properties.allocationState"},
    {"allocation_state_transition_time", "properties.properties.allocationStateTransitionTime"},
    {"current_node_count", "properties.properties.currentNodeCount"},
    {"target_node_count", "properties.properties.targetNodeCount"},
}};

json::object counts_view(const json::object& resource) {
  json::object view;
  const json::value& counts = look_up(resource, "properties.properties.nodeStateCounts");
  if (!counts.is_object()) return view;
  for (const char* state : {"idle", "running", "preparing", "unusable", "leaving", "preempted"}) {
    put(view, state, look_up(counts.get_object(), std::string(state) + "NodeCount"));
  }
  return view;
}

/// [{"error": {"message": …}}] -> the messages.
void put_errors(json::object& view, const json::value& errors) {
  if (!errors.is_array() || errors.get_array().empty()) return;
  json::array messages;
  for (const json::value& each : errors.get_array()) {
    if (each.is_object()) messages.push_back(look_up(each.get_object(), "error.message"));
  }
  view["errors"] = std::move(messages);
}

void put_access(json::object& view, const json::object& resource) {
  const std::string access = text_at(resource, "properties.properties.remoteLoginPortPublicAccess");
  view["ssh_public_access_enabled"] = equals_ignoring_case(access, "Enabled");
  const json::value& login = look_up(resource, "properties.properties.userAccountCredentials");
  if (login.is_object()) {
    json::object settings;
    put(settings, "admin_username", look_up(login.get_object(), "adminUserName"));
    put(settings, "ssh_key_value", look_up(login.get_object(), "adminUserSshPublicKey"));
    view["ssh_settings"] = std::move(settings);
  }
  json::object network;
  put(network, "subnet", look_up(resource, "properties.properties.subnet.id"));
  view["network_settings"] = std::move(network);
}

std::string resource_group(const json::object& resource) {
  const std::string id = text_at(resource, "id");
  const auto segments = split(id, '/');
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    if (equals_ignoring_case(segments[i], "resourceGroups")) return std::string(segments[i + 1]);
  }
  return {};
}

void put_scale(json::object& view, const json::object& resource) {
  const auto tier = arm::tier_from(text_at(resource, "properties.properties.vmPriority"));
  if (tier) view["tier"] = arm::to_yaml(*tier);
  const auto idle = seconds_from_iso8601(
      text_at(resource, "properties.properties.scaleSettings.nodeIdleTimeBeforeScaleDown"));
  if (idle) view["idle_time_before_scale_down"] = idle->count();
}

void put_nodes(json::object& view, const json::object& resource) {
  view["node_state_counts"] = counts_view(resource);
  put_errors(view, look_up(resource, "properties.properties.errors"));
  put_access(view, resource);
}

}  // namespace

json::object compute_view(const json::object& resource) {
  json::object view;
  for (const auto& [key, path] : kLines) put(view, key, look_up(resource, path));
  view["type"] = to_lower(text_at(resource, "properties.computeType"));
  const bool is_cluster = view.at("type").as_string() == "amlcompute";
  if (is_cluster) put_scale(view, resource);
  const std::string description = text_at(resource, "properties.description");
  if (!description.empty()) view["description"] = description;
  if (is_cluster) put_nodes(view, resource);
  const json::value& identity = look_up(resource, "identity");
  if (identity.is_object()) view["identity"] = with_snake_keys(identity);
  const json::value& tags = look_up(resource, "tags");
  view["tags"] = tags.is_object() ? tags : json::value(json::object());
  view["resourceGroup"] = resource_group(resource);
  return view;
}

json::object node_view(const json::object& node) {
  json::object view;
  view["node_id"] = look_up(node, "nodeId");
  view["node_state"] = look_up(node, "nodeState");
  put(view, "current_job_name", look_up(node, "runId"));
  put(view, "private_ip_address", look_up(node, "privateIpAddress"));
  put(view, "public_ip_address", look_up(node, "publicIpAddress"));
  put(view, "port", look_up(node, "port"));
  return view;
}

json::object size_view(const json::object& size) {
  constexpr std::array<Line, 6> kSizeLines = {{{"name", "name"},
                                               {"family", "family"},
                                               {"v_cp_us", "vCPUs"},
                                               {"gpus", "gpus"},
                                               {"memory_gb", "memoryGB"},
                                               {"low_priority_capable", "lowPriorityCapable"}}};
  json::object view;
  for (const auto& [key, path] : kSizeLines) put(view, key, look_up(size, path));
  put(view, "supported_compute_types", look_up(size, "supportedComputeTypes"));
  const json::value& prices = look_up(size, "estimatedVMPrices.values");
  if (!prices.is_array()) return view;
  for (const json::value& price : prices.get_array()) {
    if (!price.is_object()) continue;
    const bool is_low = text_at(price.get_object(), "vmTier") == "LowPriority";
    put(view, is_low ? "low_priority_price_per_hour" : "price_per_hour",
        look_up(price.get_object(), "retailPrice"));
  }
  return view;
}

json::object usage_view(const json::object& usage) { return with_snake_keys(usage).as_object(); }

}  // namespace berth::wire::yaml
