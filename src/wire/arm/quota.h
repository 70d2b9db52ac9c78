// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::wire::arm {

/// One of QuotaUpdateParameters.value.
struct QuotaRequest {
  std::string id{};         ///< As the client wrote it.
  std::string name{};       ///< The last part of the id.
  std::int64_t limit = -1;  ///< -1: none.
};

/// Limits are from 1 on, or -1; one that no `int` holds is refused here.
Result<std::vector<QuotaRequest>> quotas_from_json(const boost::json::value& body);

/// UpdateWorkspaceQuotas.
boost::json::object to_json(const QuotaRequest& quota, std::string_view status);

}  // namespace berth::wire::arm
