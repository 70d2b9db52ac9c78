// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::cli {

/// "30d", "12h", "45m", "90s", "2w": a whole number and its unit.
Result<std::chrono::seconds> period_from(std::string_view text);

/// The same backwards, in the largest unit that leaves nothing over.
std::string to_text(std::chrono::seconds period);

}  // namespace berth::cli
