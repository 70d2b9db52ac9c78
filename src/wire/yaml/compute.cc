// SPDX-License-Identifier: Apache-2.0
// Files of clusters.
#include "wire/yaml/compute.h"

#include <fmt/format.h>

#include <array>

#include "base/clock.h"
#include "base/text.h"
#include "model/compute.h"
#include "wire/arm/compute.h"
#include "wire/yaml/entity.h"
#include "wire/yaml/value.h"

namespace berth::wire::yaml {
namespace {

namespace json = boost::json;

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 16> kKeys = {"$schema",
                                                    "name",
                                                    "type",
                                                    "description",
                                                    "location",
                                                    "tags",
                                                    "size",
                                                    "tier",
                                                    "min_instances",
                                                    "max_instances",
                                                    "idle_time_before_scale_down",
                                                    "ssh_public_access_enabled",
                                                    "ssh_settings",
                                                    "network_settings",
                                                    "enable_node_public_ip",
                                                    "identity"};
/// What `compute show` prints beside them.
constexpr std::array<std::string_view, 13> kReadOnly = {"id",
                                                        "resource_id",
                                                        "provisioning_state",
                                                        "provisioning_errors",
                                                        "created_on",
                                                        "modified_on",
                                                        "resourceGroup",
                                                        "allocation_state",
                                                        "current_node_count",
                                                        "target_node_count",
                                                        "node_state_counts",
                                                        "errors",
                                                        "allocation_state_transition_time"};
constexpr std::array<std::string_view, 4> kOtherTypes = {"computeinstance", "virtualmachine",
                                                         "kubernetes", "synapsespark"};
constexpr std::array<std::string_view, 3> kSshKeys = {"admin_username", "admin_password",
                                                      "ssh_key_value"};
constexpr std::array<std::string_view, 2> kNetworkKeys = {"vnet_name", "subnet"};
constexpr std::array<std::string_view, 4> kIdentityKeys = {"type", "user_assigned_identities",
                                                           "principal_id", "tenant_id"};

bool is_there(const Node* node) { return node != nullptr && node->kind != Node::Kind::Null; }

/// The member as a mapping with only known keys; null when it is absent.
Result<const Node*> section(const Node& root, std::string_view key, Names known) {
  const Node* node = root.find(key);
  if (!is_there(node)) return nullptr;
  TRY(check_mapping(*node, key));
  TRY(check_keys(*node, fmt::format("'{}'", key), known));
  return node;
}

Status check_type(const Node& root) {
  const std::string type = TRY(text_member(root, "type"));
  if (type.empty()) return error_at(root.mark, "a compute needs a 'type', such as amlcompute");
  if (equals_ignoring_case(type, "amlcompute")) return Done{};
  const Mark& mark = root.find("type")->mark;
  for (const std::string_view other : kOtherTypes) {
    if (!equals_ignoring_case(type, other)) continue;
    return at(mark, {.code = Code::NotSupported,
                     .message = fmt::format("computes of type '{}' are not supported yet; "
                                            "'amlcompute' is",
                                            other)});
  }
  return error_at(mark, fmt::format("'type' is '{}'; Berth knows amlcompute", type));
}

Result<std::int64_t> count_member(const Node& root, std::string_view key, std::int64_t fallback) {
  const Node* node = root.find(key);
  if (!is_there(node)) return fallback;
  const std::int64_t number = TRY(as_integer(*node, key));
  if (number >= 0) return number;
  return error_at(node->mark, fmt::format("'{}' must be 0 or more, but is {}", key, number));
}

/// Of a file: defaults for what it does not say. Of a change: only what it says.
Result<json::object> read_scale(const Node& root, bool is_change) {
  const model::ScaleSettings defaults;
  const std::int64_t least = TRY(count_member(root, "min_instances", defaults.min_nodes));
  const std::int64_t most = TRY(count_member(root, "max_instances", defaults.max_nodes));
  const Node* least_node = root.find("min_instances");
  const Node* most_node = root.find("max_instances");
  const bool says_both = is_there(least_node) && is_there(most_node);
  if (least > most && (says_both || !is_change)) {
    return error_at(
        (is_there(least_node) ? least_node : most_node)->mark,
        fmt::format("'min_instances' is {}, more than 'max_instances', {}", least, most));
  }
  const std::int64_t idle = TRY(
      count_member(root, "idle_time_before_scale_down", defaults.idle_before_scale_down.count()));
  json::object scale;
  if (!is_change || is_there(least_node)) scale["minNodeCount"] = least;
  if (!is_change || is_there(most_node)) scale["maxNodeCount"] = most;
  if (!is_change || is_there(root.find("idle_time_before_scale_down"))) {
    scale["nodeIdleTimeBeforeScaleDown"] = to_iso8601(std::chrono::seconds(idle));
  }
  return scale;
}

Status read_tier(const Node& root, json::object& inner) {
  const std::string text = TRY(text_member(root, "tier"));
  if (text.empty()) return Done{};
  const Result<model::Tier> tier = arm::tier_from(text);
  if (!tier) return at(root.find("tier")->mark, tier.error());
  inner["vmPriority"] = arm::to_arm(*tier);
  return Done{};
}

Status read_ssh(const Node& root, ComputeFile& file, json::object& inner) {
  if (const Node* access = root.find("ssh_public_access_enabled"); is_there(access)) {
    const bool enabled = TRY(as_bool(*access, "ssh_public_access_enabled"));
    inner["remoteLoginPortPublicAccess"] = enabled ? "Enabled" : "Disabled";
  }
  const Node* ssh = TRY(section(root, "ssh_settings", kSshKeys));
  if (ssh == nullptr) return Done{};
  json::object credentials = {{"adminUserName", "azureuser"}};
  const std::string user = TRY(text_member(*ssh, "admin_username"));
  if (!user.empty()) credentials["adminUserName"] = user;
  const std::string key = TRY(text_member(*ssh, "ssh_key_value"));
  if (!key.empty()) credentials["adminUserSshPublicKey"] = key;
  if (is_there(ssh->find("admin_password"))) {
    file.warnings.emplace_back("admin_password is not sent: Berth keeps no passwords");
  }
  inner["userAccountCredentials"] = std::move(credentials);
  file.warnings.emplace_back("ssh_settings are recorded; nobody can log in to the nodes by them");
  return Done{};
}

Status read_network(const Node& root, json::object& inner) {
  if (const Node* network = TRY(section(root, "network_settings", kNetworkKeys))) {
    const std::string vnet = TRY(text_member(*network, "vnet_name"));
    const std::string subnet = TRY(text_member(*network, "subnet"));
    if (!subnet.empty() || !vnet.empty()) {
      inner["subnet"] = {{"id", vnet.empty() ? subnet : vnet + "/subnets/" + subnet}};
    }
  }
  if (const Node* address = root.find("enable_node_public_ip"); is_there(address)) {
    inner["enableNodePublicIp"] = TRY(as_bool(*address, "enable_node_public_ip"));
  }
  return Done{};
}

/// "system_assigned", "SystemAssigned", … -> ARM's word.
Result<std::string> identity_type(const Node& identity) {
  std::string type = to_lower(TRY(text_member(identity, "type")));
  std::erase(type, '_');
  if (type == "systemassigned") return "SystemAssigned";
  if (type == "userassigned") return "UserAssigned";
  if (type == "none") return "None";
  const Node* node = identity.find("type");
  return error_at(node == nullptr ? identity.mark : node->mark,
                  "'type' of 'identity' must be system_assigned or user_assigned");
}

Status read_identity(const Node& root, json::object& body) {
  const Node* identity = TRY(section(root, "identity", kIdentityKeys));
  if (identity == nullptr) return Done{};
  const std::string type = TRY(identity_type(*identity));
  json::object sent = {{"type", type}};
  const Node* assigned = identity->find("user_assigned_identities");
  if (is_there(assigned)) {
    if (assigned->kind != Node::Kind::Sequence) {
      return error_at(assigned->mark, "'user_assigned_identities' must be a list");
    }
    json::object ids;
    for (const Node& item : assigned->items) {
      const std::string id =
          TRY(item.kind == Node::Kind::Mapping ? text_member(item, "resource_id")
                                               : as_text(item, "user_assigned_identities"));
      ids[id] = json::object();
    }
    sent["userAssignedIdentities"] = std::move(ids);
  }
  body["identity"] = std::move(sent);
  return Done{};
}

Status read_labels(const Node& root, ComputeFile& file, json::object& properties) {
  file.name = TRY(text_member(root, "name"));
  const std::string location = TRY(text_member(root, "location"));
  if (!location.empty()) file.body["location"] = location;
  if (is_there(root.find("description"))) {
    properties["description"] = TRY(text_member(root, "description"));
  }
  if (const Node* tags = root.find("tags"); is_there(tags)) {
    json::object sent;
    for (const auto& [key, value] : TRY(as_text_map(*tags, "tags"))) sent[key] = value;
    file.body["tags"] = std::move(sent);
  }
  return Done{};
}

Result<ComputeFile> read_all(const Node& root, bool is_change) {
  TRY(check_keys(root, "a cluster (amlcompute)", kKeys, kReadOnly));
  ComputeFile file;
  json::object properties = {{"computeType", "AmlCompute"}};
  TRY(read_labels(root, file, properties));
  json::object inner;
  inner["scaleSettings"] = TRY(read_scale(root, is_change));
  const std::string size = TRY(text_member(root, "size"));
  if (!size.empty()) inner["vmSize"] = size;
  TRY(read_tier(root, inner));
  TRY(read_ssh(root, file, inner));
  TRY(read_network(root, inner));
  TRY(read_identity(root, file.body));
  properties["properties"] = std::move(inner);
  file.body["properties"] = std::move(properties);
  return file;
}

}  // namespace

Result<ComputeFile> compute_from_yaml(const Node& root) {
  TRY(check_mapping(root, "the file"));
  TRY(check_type(root));
  return read_all(root, false);
}

Result<ComputeFile> compute_change_from_yaml(const Node& root) {
  TRY(check_mapping(root, "the change"));
  return read_all(root, true);
}

}  // namespace berth::wire::yaml
