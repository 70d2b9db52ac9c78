// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace berth::model {

/// What a node of that size offers, and what an hour of it costs.
struct VmSize {
  std::string name{};    ///< "Standard_DS3_v2"; compared without regard to case.
  std::string family{};  ///< "standardDSv2Family": what quotas are counted by.
  int cores = 1;
  std::int64_t memory_mib = 1024;
  int gpus = 0;
  double price_per_hour = 0;
  double low_priority_price_per_hour = 0;
};
BOOST_DESCRIBE_STRUCT(VmSize, (),
                      (name, family, cores, memory_mib, gpus, price_per_hour,
                       low_priority_price_per_hour))

/// Sizes by their names in lower case.
using SizeCatalogue = std::map<std::string, VmSize>;

/// Azure's common sizes, with prices of the order Azure asks.
SizeCatalogue built_in_sizes();

/// nullptr when there is none of that name.
const VmSize* find_size(const SizeCatalogue& sizes, std::string_view name);

}  // namespace berth::model
