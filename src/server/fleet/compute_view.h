// SPDX-License-Identifier: Apache-2.0
// Clusters and nodes of the state, in the words of the formats they are shown in.
#pragma once

#include <string>
#include <vector>

#include "core/cluster_view.h"
#include "wire/arm/compute.h"

namespace berth::server {

/// What is used of a site, and what there is of it. `location` is what the asker called it.
std::vector<wire::arm::UsageRecord> usages_of(const core::State& state, const std::string& site,
                                              const std::string& location);

/// A node as /berth/v1/nodes lists it.
boost::json::object node_json(const core::State& state, const model::Node& node);

}  // namespace berth::server
