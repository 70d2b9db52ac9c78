// SPDX-License-Identifier: Apache-2.0
// Quotas as ARM knows them, over what a site really has: one limit of cores and one of nodes.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/state.h"
#include "model/site.h"

namespace berth::core {

inline constexpr std::string_view kDedicatedCores = "TotalDedicatedCores";
inline constexpr std::string_view kLowPriorityCores = "TotalLowPriorityCores";
inline constexpr std::string_view kTotalNodes = "TotalNodes";

/// What became of one change; the names are ARM's.
enum class QuotaStatus {
  Success,
  InvalidQuotaBelowClusterMinimum,  ///< Clusters of the site keep more than that all the time.
  InvalidVMFamilyName,              ///< No such quota.
  OperationNotSupportedForSku,      ///< Families of sizes share the cores of their site.
};
BOOST_DESCRIBE_ENUM(QuotaStatus, Success, InvalidQuotaBelowClusterMinimum, InvalidVMFamilyName,
                    OperationNotSupportedForSku)

struct QuotaChange {
  std::string_view name;    ///< In any case.
  std::int64_t limit = -1;  ///< -1: none.
};

/// Makes the change to the site, or says why not. Dedicated and low-priority nodes share the cores,
/// so the two quotas are one. The limit must be one a site can have (check_site).
QuotaStatus change_quota(const State& state, const QuotaChange& change, model::Site& site);

}  // namespace berth::core
