// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <string>

#include "base/clock.h"
#include "model/compute.h"

namespace berth::model {

/// Time that a node was there, or that a job had it: what cost reports add up.
struct Usage {
  WorkspaceId workspace{};
  std::string compute{};
  std::string node{};
  std::string job{};  ///< Empty: the node itself, whoever used it.
  int attempt = 0;
  std::string size{};
  Tier tier = Tier::Dedicated;
  double price_per_hour = 0;
  WallTime began_at{};
  WallTime ended_at{};
};
BOOST_DESCRIBE_STRUCT(Usage, (),
                      (workspace, compute, node, job, attempt, size, tier, price_per_hour, began_at,
                       ended_at))

}  // namespace berth::model
