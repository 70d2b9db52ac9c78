// SPDX-License-Identifier: Apache-2.0
#include "core/room.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/site_kind.h"

namespace berth::core {

std::optional<model::Node> blank_node(const State& state, const model::Compute& compute,
                                      const model::Cluster& cluster) {
  const model::VmSize* size = size_of(state, cluster);
  const auto site = state.sites.find(compute.site);
  if (size == nullptr || site == state.sites.end()) return std::nullopt;
  model::Node node{.target = {compute.key}, .site = compute.site};
  node.cores = size->cores;
  node.memory_mib = size->memory_mib;
  if (model::traits_of(site->second).shares_machine) {
    node.cores = std::min(node.cores, state.settings.machine_cores);
    node.memory_mib = std::min(node.memory_mib, state.settings.machine_memory_mib);
  }
  node.price_per_hour = cluster.tier == model::Tier::LowPriority ? size->low_priority_price_per_hour
                                                                 : size->price_per_hour;
  return node;
}

std::string lacking(const model::Site& site, const SiteUse& use, const model::Node& node,
                    int gpus) {
  const model::SiteCapacity& capacity = site.capacity;
  if (capacity.nodes && use.nodes + 1 > *capacity.nodes) {
    return fmt::format("{} of {} nodes are in use", use.nodes, *capacity.nodes);
  }
  if (capacity.cores && use.cores + node.cores > *capacity.cores) {
    return fmt::format("{} of {} cores are in use, a node needs {}", use.cores, *capacity.cores,
                       node.cores);
  }
  if (capacity.memory_mib && use.memory_mib + node.memory_mib > *capacity.memory_mib) {
    return fmt::format("{} of {} MiB are in use, a node needs {}", use.memory_mib,
                       *capacity.memory_mib, node.memory_mib);
  }
  if (model::traits_of(site).numbers_devices &&
      static_cast<int>(use.gpus.size()) + gpus > capacity.gpus) {
    return fmt::format("{} of {} GPUs are in use, a node needs {}", use.gpus.size(), capacity.gpus,
                       gpus);
  }
  return "";
}

bool take_room(const model::Site& site, SiteUse& use, model::Node& node, int gpus) {
  if (!lacking(site, use, node, gpus).empty()) return false;
  use.nodes += 1;
  use.cores += node.cores;
  use.memory_mib += node.memory_mib;
  node.gpus.clear();
  if (!model::traits_of(site).numbers_devices) return true;
  for (int device = 0; static_cast<int>(node.gpus.size()) < gpus; ++device) {
    if (use.gpus.insert(device).second) node.gpus.push_back(device);
  }
  return true;
}

void free_room(SiteUse& use, const model::Node& node) {
  use.nodes -= 1;
  use.cores -= node.cores;
  use.memory_mib -= node.memory_mib;
  for (const int device : node.gpus) use.gpus.erase(device);
}

SiteUse use_of(const State& state, const std::string& site) {
  const auto found = state.site_use.find(site);
  return found == state.site_use.end() ? SiteUse{} : found->second;
}

}  // namespace berth::core
