// SPDX-License-Identifier: Apache-2.0
// ARM's JSON for computes, their nodes, sizes and usages.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cluster_view.h"
#include "model/compute.h"
#include "model/size.h"
#include "model/workspace.h"

namespace berth::wire::arm {

namespace json = boost::json;

/// `view` is of a cluster.
json::object to_json(const model::Compute& compute, const model::Workspace& workspace,
                     const model::ClusterView& view);

/// Reads a body over `base`, which is the compute as it is, or a new cluster: what the body does
/// not mention stays. Enum values ignore case; a password is never kept. Name, key and site are the
/// caller's. A PATCH has the same shape as a PUT, and need not say its computeType.
Result<model::Compute> compute_from_json(const json::value& body, model::Compute base,
                                         bool is_patch = false);

/// "dedicated", "low_priority", "LowPriority", …, in any case.
Result<model::Tier> tier_from(std::string_view text);
std::string_view to_arm(model::Tier tier);
std::string_view to_yaml(model::Tier tier);

/// One of AmlComputeNodesInformation.nodes.
json::object to_json(const model::NodeView& node);

/// VirtualMachineSize.
json::object to_json(const model::VmSize& size);

/// How much of something a location has, and how much of it is used.
struct UsageRecord {
  std::string id{};
  std::string location{};
  std::string name{};   ///< "standardDSv2Family".
  std::string title{};  ///< For people.
  std::int64_t used = 0;
  std::int64_t limit = -1;  ///< -1: none.
};
json::object usage_json(const UsageRecord& usage);
json::object quota_json(const UsageRecord& usage);

}  // namespace berth::wire::arm
