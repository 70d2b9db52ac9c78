// SPDX-License-Identifier: Apache-2.0
#include "wire/arm/compute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "model/compute_kind.h"
#include "wire/arm/envelope.h"
#include "wire/arm/field.h"

namespace berth::wire::arm {
namespace {

using model::Compute;
using model::Tier;

constexpr std::array<std::string_view, 10> kComputeTypes = {
    "AmlCompute", "ComputeInstance", "AKS",        "Kubernetes",        "VirtualMachine",
    "HDInsight",  "DataFactory",     "Databricks", "DataLakeAnalytics", "SynapseSpark"};
constexpr std::array<std::string_view, 3> kAccess = {"Enabled", "Disabled", "NotSpecified"};

// ---- Writing -----------------------------------------------------------------------------------

json::object scale_json(const model::ScaleSettings& scale) {
  return {{"minNodeCount", scale.min_nodes},
          {"maxNodeCount", scale.max_nodes},
          {"nodeIdleTimeBeforeScaleDown", to_iso8601(scale.idle_before_scale_down)}};
}

json::object state_counts(const model::ClusterView& view) {
  return {{"idleNodeCount", view.idle},           {"runningNodeCount", view.running},
          {"preparingNodeCount", view.preparing}, {"unusableNodeCount", view.unusable},
          {"leavingNodeCount", view.leaving},     {"preemptedNodeCount", view.preempted}};
}

/// ErrorResponse[], or null when there are none.
json::value errors_json(const std::vector<std::string>& errors) {
  if (errors.empty()) return nullptr;
  json::array array;
  for (const std::string& message : errors) {
    array.emplace_back(
        json::object{{"error", {{"code", "NodeStartFailed"}, {"message", message}}}});
  }
  return array;
}

json::value recorded(const Compute& compute, std::string_view key, const json::value& fallback) {
  const json::value* found = compute.recorded.if_contains(key);
  return found == nullptr ? fallback : *found;
}

json::object cluster_properties(const Compute& compute, const model::Cluster& cluster,
                                const model::ClusterView& view) {
  json::object inner = {
      {"osType", "Linux"},
      {"vmSize", cluster.size},
      {"vmPriority", to_arm(cluster.tier)},
      {"scaleSettings", scale_json(cluster.scale)},
      {"remoteLoginPortPublicAccess",
       recorded(compute, "remoteLoginPortPublicAccess", "NotSpecified")},
      {"enableNodePublicIp", recorded(compute, "enableNodePublicIp", true)},
      {"isolatedNetwork", recorded(compute, "isolatedNetwork", false)},
      {"allocationState", view.is_steady ? "Steady" : "Resizing"},
      {"allocationStateTransitionTime", to_iso8601(cluster.allocation_changed_at)},
      {"currentNodeCount", view.current_nodes},
      {"targetNodeCount", view.target_nodes},
      {"nodeStateCounts", state_counts(view)},
      {"errors", errors_json(view.errors)},
  };
  for (const std::string_view key :
       {"virtualMachineImage", "userAccountCredentials", "subnet", "propertyBag"}) {
    if (const json::value* kept = compute.recorded.if_contains(key)) inner[key] = *kept;
  }
  return inner;
}

/// What stands below `properties.properties`. `slots` is a word of ours, which clients pass over.
json::object inner_properties(const Compute& compute, const model::ClusterView& view) {
  if (const model::Cluster* cluster = cluster_in(&compute)) {
    return cluster_properties(compute, *cluster, view);
  }
  if (const auto* attached = std::get_if<model::Attached>(&compute.kind)) {
    return {{"slots", attached->slots}, {"isNotebookInstanceCompute", false}};
  }
  const auto* instance = std::get_if<model::Instance>(&compute.kind);
  return instance == nullptr ? json::object() : json::object{{"vmSize", instance->size}};
}

// ---- Reading -----------------------------------------------------------------------------------

Status check_type(const Fields& from, bool may_be_absent) {
  const std::string type =
      TRY(may_be_absent ? from.text("computeType") : from.required_text("computeType"));
  if (type.empty()) return Done{};
  for (const std::string_view known : kComputeTypes) {
    if (!equals_ignoring_case(known, type)) continue;
    if (known == "AmlCompute") return Done{};
    return fail(Code::NotSupported,
                fmt::format("computes of type {} are not supported yet; AmlCompute is", known),
                from.path_of("computeType"));
  }
  return from.wrong("computeType", fmt::format("is '{}'; known are {}", to_valid_utf8(type),
                                               fmt::join(kComputeTypes, ", ")));
}

Status read_count(const Fields& from, std::string_view key, int& count) {
  const std::int64_t number = TRY(from.integer(key, count));
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max()) {
    return from.wrong(key, fmt::format("is {}, which no cluster has", number));
  }
  count = static_cast<int>(number);
  return Done{};
}

Status read_scale(const Fields& from, model::ScaleSettings& scale) {
  TRY(read_count(from, "minNodeCount", scale.min_nodes));
  TRY(read_count(from, "maxNodeCount", scale.max_nodes));
  const std::string idle = TRY(from.text("nodeIdleTimeBeforeScaleDown"));
  if (idle.empty()) return Done{};
  const Result<std::chrono::seconds> seconds = seconds_from_iso8601(idle);
  if (!seconds) return from.wrong("nodeIdleTimeBeforeScaleDown", seconds.error().message);
  scale.idle_before_scale_down = *seconds;
  return Done{};
}

Status read_tier(const Fields& from, Tier& tier) {
  const std::string text = TRY(from.text("vmPriority"));
  if (text.empty()) return Done{};
  const Result<Tier> read = tier_from(text);
  if (!read) return at(read.error(), from.path_of("vmPriority"));
  tier = *read;
  return Done{};
}

Status check_system(const Fields& from) {
  const std::string system = TRY(from.text("osType"));
  if (system.empty() || equals_ignoring_case(system, "Linux")) return Done{};
  if (!equals_ignoring_case(system, "Windows")) {
    return from.wrong("osType", "must be Linux or Windows");
  }
  return fail(Code::NotSupported, "nodes with Windows are not supported; osType can be Linux",
              from.path_of("osType"));
}

/// User name and public key. A password would lie in the database and be shown to every reader of
/// the workspace, and nothing here could use it.
Status read_credentials(const Fields& from, json::object& kept) {
  const auto credentials = TRY(from.fields("userAccountCredentials"));
  if (!credentials) return Done{};
  json::object shown;
  for (const char* key : {"adminUserName", "adminUserSshPublicKey"}) {
    const std::string text = TRY(credentials->text(key));
    if (!text.empty()) shown[key] = text;
  }
  kept["userAccountCredentials"] = std::move(shown);
  return Done{};
}

Status read_access(const Fields& from, json::object& kept) {
  const std::string access = TRY(from.text("remoteLoginPortPublicAccess"));
  if (access.empty()) return Done{};
  for (const std::string_view known : kAccess) {
    if (!equals_ignoring_case(known, access)) continue;
    kept["remoteLoginPortPublicAccess"] = known;
    return Done{};
  }
  return from.wrong("remoteLoginPortPublicAccess",
                    fmt::format("must be one of {}", fmt::join(kAccess, ", ")));
}

/// What means something in Azure only: kept and shown.
Status read_recorded(const Fields& from, json::object& kept) {
  for (const char* key : {"isolatedNetwork", "enableNodePublicIp"}) {
    if (from.find(key) != nullptr) kept[key] = TRY(from.boolean(key, false));
  }
  for (const char* key : {"virtualMachineImage", "subnet", "propertyBag"}) {
    if (from.find(key) != nullptr) kept[key] = TRY(from.any_object(key));
  }
  TRY(read_access(from, kept));
  return read_credentials(from, kept);
}

Status read_inner(const Fields& from, Compute& compute) {
  TRY(check_system(from));
  const model::Cluster* before = cluster_in(&compute);
  model::Cluster cluster = before == nullptr ? model::Cluster() : *before;
  const std::string size = TRY(from.text("vmSize"));
  if (!size.empty()) cluster.size = size;
  TRY(read_tier(from, cluster.tier));
  if (const auto scale = TRY(from.fields("scaleSettings"))) TRY(read_scale(*scale, cluster.scale));
  compute.kind = std::move(cluster);
  return read_recorded(from, compute.recorded);
}

Status read_properties(const Fields& from, Compute& compute, bool is_patch) {
  TRY(check_type(from, is_patch));
  if (from.find("description") != nullptr) compute.description = TRY(from.text("description"));
  if (from.find("disableLocalAuth") != nullptr) {
    compute.recorded["disableLocalAuth"] = TRY(from.boolean("disableLocalAuth", true));
  }
  const std::string place = TRY(from.text("computeLocation"));
  if (!place.empty()) compute.location = place;
  if (const auto inner = TRY(from.fields("properties"))) return read_inner(*inner, compute);
  return Done{};
}

}  // namespace

std::string_view to_arm(Tier tier) { return tier == Tier::Dedicated ? "Dedicated" : "LowPriority"; }

std::string_view to_yaml(Tier tier) {
  return tier == Tier::Dedicated ? "dedicated" : "low_priority";
}

Result<Tier> tier_from(std::string_view text) {
  for (const Tier tier : {Tier::Dedicated, Tier::LowPriority}) {
    if (equals_ignoring_case(text, to_arm(tier)) || equals_ignoring_case(text, to_yaml(tier))) {
      return tier;
    }
  }
  return fail(
      Code::InvalidArgument,
      fmt::format("'{}' is not a tier; there are dedicated and low_priority", to_valid_utf8(text)),
      "tier");
}

json::object to_json(const Compute& compute, const model::Workspace& workspace,
                     const model::ClusterView& view) {
  json::object resource = envelope(model::arm_id(workspace, compute), compute.name, "/computes");
  resource["location"] = compute.location;
  resource["tags"] = to_json(compute.tags);
  if (!compute.identity.is_null()) resource["identity"] = compute.identity;
  if (const json::value* sku = compute.recorded.if_contains("sku")) resource["sku"] = *sku;
  const model::ComputeTraits& traits = model::traits_of(compute);
  resource["properties"] = {
      {"computeType", traits.arm_type},
      {"computeLocation", compute.location},
      {"description", compute.description},
      {"provisioningState", compute.is_deleting ? "Deleting" : "Succeeded"},
      {"provisioningErrors", nullptr},
      {"createdOn", to_iso8601(compute.created_at)},
      {"modifiedOn", to_iso8601(compute.modified_at)},
      {"resourceId", nullptr},
      {"isAttachedCompute",
       traits.takes_attempts || std::holds_alternative<model::Attached>(compute.kind)},
      {"disableLocalAuth", recorded(compute, "disableLocalAuth", true)},
      {"properties", inner_properties(compute, view)},
  };
  resource["systemData"] = system_data(compute.created_at, compute.modified_at, "");
  return resource;
}

Result<Compute> compute_from_json(const json::value& body, Compute base, bool is_patch) {
  const Fields root = TRY(Fields::of(body, ""));
  const std::string location = TRY(root.text("location"));
  const auto properties = TRY(root.fields("properties"));
  if (!properties && !is_patch) return root.wrong("properties", "is missing");
  if (properties) TRY(read_properties(*properties, base, is_patch));
  if (!location.empty()) base.location = location;
  if (root.find("tags") != nullptr) base.tags = TRY(root.text_map("tags"));
  if (root.find("identity") != nullptr) base.identity = TRY(root.any_object("identity"));
  if (root.find("sku") != nullptr) base.recorded["sku"] = TRY(root.any_object("sku"));
  return base;
}

json::object to_json(const model::NodeView& node) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? json::value(nullptr) : json::value(text);
  };
  return {{"nodeId", node.id.text},           {"privateIpAddress", or_null(node.address)},
          {"publicIpAddress", nullptr},       {"port", 0},
          {"nodeState", word_of(node.state)}, {"runId", or_null(node.job)}};
}

json::object to_json(const model::VmSize& size) {
  const auto price = [](std::string_view tier, double amount) {
    const double rounded = std::round(amount * 1e6) / 1e6;  // Not 0.15360000000000001.
    return json::object{{"retailPrice", rounded}, {"osType", "Linux"}, {"vmTier", tier}};
  };
  return {{"name", size.name},
          {"family", size.family},
          {"vCPUs", size.cores},
          {"gpus", size.gpus},
          {"osVhdSizeMB", 0},
          {"maxResourceVolumeMB", 0},
          {"memoryGB", static_cast<double>(size.memory_mib) / 1024},
          {"lowPriorityCapable", true},
          {"premiumIO", false},
          {"supportedComputeTypes", json::array{"AmlCompute"}},
          {"estimatedVMPrices",
           {{"billingCurrency", "USD"},
            {"unitOfMeasure", "OneHour"},
            {"values",
             {price("Standard", size.price_per_hour),
              price("LowPriority", size.low_priority_price_per_hour)}}}}};
}

json::object usage_json(const UsageRecord& usage) {
  json::object object = quota_json(usage);
  object["type"] = "Microsoft.MachineLearningServices/locations/usages";
  object["currentValue"] = usage.used;
  return object;
}

json::object quota_json(const UsageRecord& usage) {
  return {{"id", usage.id},
          {"type", "Microsoft.MachineLearningServices/locations/quotas"},
          {"amlWorkspaceLocation", usage.location},
          {"unit", "Count"},
          {"limit", usage.limit},
          {"name", {{"value", usage.name}, {"localizedValue", usage.title}}}};
}

}  // namespace berth::wire::arm
