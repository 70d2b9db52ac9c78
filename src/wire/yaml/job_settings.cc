// SPDX-License-Identifier: Apache-2.0
// How a job runs: resources, limits, queue, identity, services, notification.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/quantity.h"
#include "base/text.h"
#include "wire/yaml/entity.h"
#include "wire/yaml/job_part.h"
#include "wire/yaml/value.h"

namespace berth::wire::yaml {
namespace {

namespace json = boost::json;
using model::Job;

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 7> kResourceKeys = {
    "instance_count", "instance_type",      "shm_size", "docker_args",
    "properties",     "max_instance_count", "locations"};
constexpr std::array<std::string_view, 1> kLimitKeys = {"timeout"};
constexpr std::array<std::string_view, 2> kQueueKeys = {"job_tier", "priority"};
constexpr std::array<std::string_view, 5> kTiers = {"Null", "Spot", "Basic", "Standard", "Premium"};
constexpr std::array<std::string_view, 3> kPriorities = {"low", "medium", "high"};
constexpr std::array<std::string_view, 4> kIdentityKeys = {"type", "client_id", "object_id",
                                                           "msi_resource_id"};
constexpr std::array<std::string_view, 6> kServiceKeys = {
    "type", "port", "nodes", "properties", "log_dir", "ssh_public_keys"};
constexpr std::array<std::string_view, 3> kServiceReadOnly = {"endpoint", "status",
                                                              "error_message"};
/// Written by us into every job; they come back when `job show` is submitted again.
constexpr std::array<std::string_view, 3> kOurServices = {"Tracking", "Studio", "Local"};
constexpr std::array<std::string_view, 3> kNotificationKeys = {"email_on", "emails", "webhooks"};

struct Spelling {
  std::string_view yaml;
  std::string_view arm;
};
constexpr std::array<Spelling, 4> kIdentities = {{{"user_identity", "UserIdentity"},
                                                  {"managed", "Managed"},
                                                  {"managed_identity", "Managed"},
                                                  {"aml_token", "AMLToken"}}};
constexpr std::array<Spelling, 4> kServices = {{{"jupyter_lab", "JupyterLab"},
                                                {"vs_code", "VSCode"},
                                                {"tensor_board", "TensorBoard"},
                                                {"ssh", "SSH"}}};

/// The member as a mapping with only known keys; null when it is absent or empty.
Result<const Node*> section(const Node& root, std::string_view key, Names known) {
  const Node* node = root.find(key);
  if (node == nullptr || node->kind == Node::Kind::Null) return nullptr;
  TRY(check_mapping(*node, key));
  TRY(check_keys(*node, fmt::format("'{}'", key), known));
  return node;
}

Result<std::int64_t> count_member(const Node& node, std::string_view key, std::int64_t fallback) {
  const Node* member = node.find(key);
  if (member == nullptr || member->kind == Node::Kind::Null) return fallback;
  const std::int64_t number = TRY(as_integer(*member, key));
  if (number >= 1 && number <= std::numeric_limits<int>::max()) return number;
  return error_at(member->mark, fmt::format("'{}' must be 1 or more, but is {}", key, number));
}

/// <n>[b|k|m|g], n > 0, and not more than a machine could have.
bool is_shm_size(std::string_view text) {
  const auto bytes = bytes_from(text);
  return bytes && *bytes > 0;
}

/// Text, or a list of arguments.
Result<std::string> read_docker_args(const Node& resources) {
  const Node* args = resources.find("docker_args");
  if (args == nullptr || args->kind != Node::Kind::Sequence) {
    return text_member(resources, "docker_args");
  }
  std::string joined;
  for (const Node& item : args->items) {
    if (!joined.empty()) joined += ' ';
    joined += TRY(as_text(item, "docker_args"));
  }
  return joined;
}

Status read_resources(const Node& root, Job& job) {
  const Node* node = TRY(section(root, "resources", kResourceKeys));
  if (node == nullptr) return Done{};
  model::JobResources& to = command_of(job.spec.edit()).resources;
  to.instance_count = static_cast<int>(TRY(count_member(*node, "instance_count", 1)));
  to.instance_type = TRY(text_member(*node, "instance_type"));
  to.shm_size = TRY(text_member(*node, "shm_size"));
  if (!to.shm_size.empty() && !is_shm_size(to.shm_size)) {
    return error_at(node->find("shm_size")->mark,
                    fmt::format("'shm_size' is '{}'; write a number and b, k, m or g, such as 2g",
                                to.shm_size));
  }
  to.docker_args = TRY(read_docker_args(*node));
  if (const Node* bag = node->find("properties"); bag && bag->kind != Node::Kind::Null) {
    TRY(check_mapping(*bag, "resources.properties"));
    to.properties = to_json(*bag).as_object();
  }
  for (const std::string_view key : {"locations", "max_instance_count"}) {
    if (node->find(key) == nullptr) continue;
    job.warnings.push_back(fmt::format("resources.{} has no effect here and is left out", key));
  }
  return Done{};
}

Status read_limits(const Node& root, Job& job) {
  const Node* node = TRY(section(root, "limits", kLimitKeys));
  const Node* timeout = node == nullptr ? nullptr : node->find("timeout");
  if (timeout == nullptr || timeout->kind == Node::Kind::Null) return Done{};
  const std::int64_t seconds = TRY(as_integer(*timeout, "timeout"));
  constexpr std::int64_t kCentury = 100LL * 366 * 24 * 3600;
  if (seconds < 1 || seconds > kCentury) {
    return error_at(
        timeout->mark,
        fmt::format("'timeout' must be a number of seconds above 0, but is {}", seconds));
  }
  job.spec.edit().timeout = std::chrono::seconds(seconds);
  return Done{};
}

Status read_queue(const Node& root, Job& job) {
  const Node* node = TRY(section(root, "queue_settings", kQueueKeys));
  if (node == nullptr) return Done{};
  const std::string tier = TRY(choice_member(*node, "job_tier", kTiers));
  if (!tier.empty()) job.spec.edit().job_tier = tier;
  const std::string priority = TRY(choice_member(*node, "priority", kPriorities));
  for (std::size_t i = 0; i < kPriorities.size(); ++i) {
    if (priority == kPriorities[i]) job.spec.edit().priority = static_cast<int>(i) + 1;
  }
  return Done{};
}

Status read_identity(const Node& root, Job& job) {
  const Node* node = TRY(section(root, "identity", kIdentityKeys));
  if (node == nullptr) return Done{};
  std::array<std::string_view, kIdentities.size()> names;
  std::ranges::transform(kIdentities, names.begin(), &Spelling::yaml);
  const std::string type = TRY(choice_member(*node, "type", names));
  if (type.empty()) return error_at(node->mark, "'identity' needs a 'type'");
  json::object result = {
      {"identityType", std::ranges::find(kIdentities, type, &Spelling::yaml)->arm}};
  for (const auto& [key, arm] :
       {std::pair("client_id", "clientId"), std::pair("object_id", "objectId"),
        std::pair("msi_resource_id", "resourceId")}) {
    const std::string text = TRY(text_member(*node, key));
    if (!text.empty()) result[arm] = text;
  }
  job.spec.edit().identity = std::move(result);
  return Done{};
}

Result<json::object> read_service(const std::string& name, const Node& node) {
  TRY(check_mapping(node, name));
  TRY(check_keys(node, "a service", kServiceKeys, kServiceReadOnly));
  const std::string type = TRY(text_member(node, "type"));
  const auto known = std::ranges::find(kServices, to_lower(type), &Spelling::yaml);
  json::object result = {{"jobServiceType", known == kServices.end() ? type : known->arm}};
  if (const Node* port = node.find("port"); port && port->kind != Node::Kind::Null) {
    result["port"] = TRY(as_integer(*port, "port"));
  }
  const std::string nodes = TRY(text_member(node, "nodes"));
  if (!nodes.empty()) result["nodes"] = {{"nodesValueType", nodes == "all" ? "All" : nodes}};
  json::object properties;
  if (const Node* bag = node.find("properties")) {
    for (const auto& [key, value] : TRY(as_text_map(*bag, "properties"))) properties[key] = value;
  }
  for (const auto& [key, arm] :
       {std::pair("log_dir", "logDir"), std::pair("ssh_public_keys", "sshPublicKeys")}) {
    const std::string text = TRY(text_member(node, key));
    if (!text.empty()) properties[arm] = text;
  }
  if (!properties.empty()) result["properties"] = std::move(properties);
  return result;
}

Status read_services(const Node& root, Job& job) {
  const Node* node = root.find("services");
  if (node == nullptr || node->kind == Node::Kind::Null) return Done{};
  TRY(check_mapping(*node, "services"));
  for (const auto& [name, service] : node->members) {
    if (std::ranges::find(kOurServices, name) != kOurServices.end()) continue;
    job.spec.edit().services[name] = TRY(read_service(name, service));
  }
  return Done{};
}

/// "job_completed" -> "JobCompleted".
std::string to_pascal_case(std::string_view snake) {
  std::string result = to_camel_case(snake);
  if (!result.empty() && result[0] >= 'a' && result[0] <= 'z') {
    result[0] = static_cast<char>(result[0] & ~0x20);
  }
  return result;
}

Result<json::array> text_list(const Node& node, std::string_view key) {
  json::array result;
  if (node.kind != Node::Kind::Sequence)
    return error_at(node.mark, fmt::format("'{}' must be a list", key));
  for (const Node& item : node.items) result.emplace_back(TRY(as_text(item, key)));
  return result;
}

Status read_notification(const Node& root, Job& job) {
  const Node* node = TRY(section(root, "notification_setting", kNotificationKeys));
  if (node == nullptr) return Done{};
  json::object result;
  if (const Node* events = node->find("email_on")) {
    json::array list = TRY(text_list(*events, "email_on"));
    for (json::value& event : list) event = to_pascal_case(event.as_string());
    result["emailOn"] = std::move(list);
  }
  if (const Node* emails = node->find("emails")) {
    result["emails"] = TRY(text_list(*emails, "emails"));
  }
  if (const Node* hooks = node->find("webhooks")) {
    TRY(check_mapping(*hooks, "webhooks"));
    json::object map;
    for (const auto& [name, hook] : hooks->members) map[name] = with_camel_keys(to_json(hook));
    result["webhooks"] = std::move(map);
  }
  job.spec.edit().notification = std::move(result);
  return Done{};
}

}  // namespace

Status read_settings(const Node& root, Job& job) {
  TRY(read_resources(root, job));
  TRY(read_limits(root, job));
  TRY(read_queue(root, job));
  TRY(read_distribution(root, job));
  TRY(read_identity(root, job));
  TRY(read_services(root, job));
  return read_notification(root, job);
}

}  // namespace berth::wire::yaml
