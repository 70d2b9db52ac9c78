// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/compute_view.h"

#include "base/text.h"
#include "core/rules/quota.h"
#include "model/site_kind.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;
using core::State;
using model::Compute;
using model::Node;

/// Cores that nodes of a site have now.
struct Cores {
  std::int64_t dedicated = 0;
  std::int64_t low_priority = 0;
  std::int64_t nodes = 0;
  std::map<std::string, std::int64_t> by_family{};
};

Cores cores_of(const State& state, const std::string& site) {
  Cores cores;
  for (const auto& [key, size] : state.settings.sizes) cores.by_family.try_emplace(size.family);
  for (const auto& [id, node] : state.nodes) {
    const model::Cluster* cluster = core::cluster_of(state, node.target);
    if (node.site != site || cluster == nullptr) continue;
    ++cores.nodes;
    (cluster->tier == model::Tier::Dedicated ? cores.dedicated : cores.low_priority) += node.cores;
    const model::VmSize* size = core::size_of(state, *cluster);
    if (size != nullptr) cores.by_family[size->family] += node.cores;
  }
  return cores;
}

std::int64_t core_limit(const State& state, const model::Site& site) {
  if (site.capacity.cores) return *site.capacity.cores;
  return model::traits_of(site).shares_machine ? state.settings.machine_cores : -1;
}

}  // namespace

std::vector<arm::UsageRecord> usages_of(const State& state, const std::string& site,
                                        const std::string& location) {
  const auto found = state.sites.find(site);
  const model::Site place = found == state.sites.end() ? model::Site{.name = site} : found->second;
  const Cores cores = cores_of(state, site);
  const std::int64_t limit = core_limit(state, place);
  std::vector<arm::UsageRecord> usages = {
      {.name = std::string(core::kDedicatedCores),
       .title = "Total Cluster Dedicated Regional vCPUs",
       .used = cores.dedicated,
       .limit = limit},
      {.name = std::string(core::kLowPriorityCores),
       .title = "Total Cluster LowPriority Regional vCPUs",
       .used = cores.low_priority,
       .limit = limit},
      {.name = std::string(core::kTotalNodes),
       .title = "Total Cluster Nodes",
       .used = cores.nodes,
       .limit = place.capacity.nodes.value_or(-1)},
  };
  for (const auto& [family, used] : cores.by_family) {
    usages.push_back(
        {.name = family, .title = family + " Cluster vCPUs", .used = used, .limit = limit});
  }
  for (arm::UsageRecord& usage : usages) usage.location = location;
  return usages;
}

json::object node_json(const State& state, const Node& node) {
  const Compute* compute = core::compute_of(state, node.target);
  const auto jobs = core::jobs_on(state, node.id);
  json::object shown = {
      {"name", node.id.text},
      {"state", model::word_of(core::state_of(state, node))},
      {"status", boost::describe::enum_to_string(node.status, "?")},
      {"compute", compute == nullptr ? node.target.compute.name : compute->name},
      {"site", node.site},
      {"job", jobs.empty() ? json::value(nullptr) : json::value(jobs.front()->key.name)},
      {"jobs", jobs.size()},
      {"since", to_iso8601(node.requested_at)},
      {"price_per_hour", node.price_per_hour},
      {"cores", node.cores},
      {"memory_mib", node.memory_mib},
      {"gpus", json::value_from(node.gpus)},
      {"address", node.address},
  };
  if (const model::Cluster* cluster = cluster_in(compute)) {
    shown["size"] = cluster->size;
    shown["tier"] = arm::to_yaml(cluster->tier);
  }
  const auto workspace = state.workspaces.find(node.target.compute.workspace);
  if (workspace != state.workspaces.end()) shown["workspace"] = workspace->second.name;
  if (!node.start_error.empty()) shown["error"] = node.start_error;
  return shown;
}

}  // namespace berth::server
