// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/size.h"
#include "wire/yaml/document.h"

namespace berth::wire::yaml {

/// A cluster's file as the ARM body that makes it. Size, tier, location and tags are in it only
/// when the file says them, so that what cannot change need not be repeated; the counts always are.
struct ComputeFile {
  std::string name{};  ///< May be empty: a flag may say it.
  boost::json::object body{};
  std::vector<std::string> warnings{};
};

/// `type: amlcompute`. Other types of Azure ML are refused as not supported yet.
Result<ComputeFile> compute_from_yaml(const Node& root);

/// The same keys, none of them needed, as the ARM body that changes a cluster.
Result<ComputeFile> compute_change_from_yaml(const Node& root);

/// What `az ml compute show` prints, and what is there of the cluster now, from the ARM resource.
boost::json::object compute_view(const boost::json::object& resource);
/// What `az ml compute list-nodes` prints of a node.
boost::json::object node_view(const boost::json::object& node);
/// What `list-sizes` and `list-usage` print of one.
boost::json::object size_view(const boost::json::object& size);
boost::json::object usage_view(const boost::json::object& usage);

/// The operator's file of sizes: a list of {name, cores, memory, gpus, price_per_hour,
/// low_priority_price_per_hour, family}. A name may be one that is built in, and replaces it.
Result<std::vector<model::VmSize>> sizes_from_yaml(const Node& root);

}  // namespace berth::wire::yaml
