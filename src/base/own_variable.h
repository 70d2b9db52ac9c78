// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace berth {

/// Environment variables that speak of somebody's own Berth, or hold their token (`berth env` sets
/// them in people's shells). No server, agent or job inherits them from whoever started it.
inline bool is_own_variable(std::string_view name) {
  return name.starts_with("BERTH_") || name.starts_with("IDENTITY_") ||
         name.starts_with("MLFLOW_TRACKING_");
}

}  // namespace berth
