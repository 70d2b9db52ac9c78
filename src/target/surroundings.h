// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.h"

namespace berth::target {

using Environment = std::map<std::string, std::string>;

/// What a node can find out of the site that lends it the machine.
struct Surroundings {
  std::optional<WallTime> ends_at{};  ///< When the site takes the machine back, if it says so.
  std::string
      left_behind{};  ///< A file from our start that nobody wants after an end in good order.
};

/// By the environment that the site starts its processes in. Blocks: it may have to ask the site.
Surroundings surroundings_of(const Environment& environment);

}  // namespace berth::target
