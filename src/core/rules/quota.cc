// SPDX-License-Identifier: Apache-2.0
#include "core/rules/quota.h"

#include <algorithm>

#include "base/text.h"
#include "model/site_kind.h"

namespace berth::core {
namespace {

using model::Site;

std::optional<int> limit_of(std::int64_t limit) {
  if (limit < 0) return std::nullopt;
  return static_cast<int>(limit);
}

/// What the clusters of a site keep even without work.
struct Kept {
  std::int64_t nodes = 0;
  std::int64_t cores = 0;
};

Kept kept_by(const State& state, const Site& site) {
  const bool shares_machine = model::traits_of(site).shares_machine;
  Kept kept;
  for (const auto& [key, compute] : state.computes) {
    if (compute.site != site.name || compute.is_deleting) continue;
    const model::Cluster* cluster = cluster_in(&compute);
    if (cluster == nullptr) continue;
    const model::VmSize* size = size_of(state, *cluster);
    std::int64_t cores = size == nullptr ? 1 : size->cores;
    // A node of this machine is given no more than there is.
    if (shares_machine) cores = std::min<std::int64_t>(cores, state.settings.machine_cores);
    kept.nodes += cluster->scale.min_nodes;
    kept.cores += cluster->scale.min_nodes * cores;
  }
  return kept;
}

bool is_family(const State& state, std::string_view name) {
  return std::ranges::any_of(state.settings.sizes, [&](const auto& entry) {
    return equals_ignoring_case(entry.second.family, name);
  });
}

}  // namespace

QuotaStatus change_quota(const State& state, const QuotaChange& change, Site& site) {
  const bool is_nodes = equals_ignoring_case(change.name, kTotalNodes);
  const bool is_cores = equals_ignoring_case(change.name, kDedicatedCores) ||
                        equals_ignoring_case(change.name, kLowPriorityCores);
  if (!is_nodes && !is_cores) {
    return is_family(state, change.name) ? QuotaStatus::OperationNotSupportedForSku
                                         : QuotaStatus::InvalidVMFamilyName;
  }
  const Kept kept = kept_by(state, site);
  if (change.limit >= 0 && change.limit < (is_nodes ? kept.nodes : kept.cores)) {
    return QuotaStatus::InvalidQuotaBelowClusterMinimum;
  }
  (is_nodes ? site.capacity.nodes : site.capacity.cores) = limit_of(change.limit);
  return QuotaStatus::Success;
}

}  // namespace berth::core
