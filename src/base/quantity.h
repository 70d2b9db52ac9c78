// SPDX-License-Identifier: Apache-2.0
// Numbers with a unit. A product that does not fit is refused, never cut off.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace berth {

/// count × unit, when it fits.
std::optional<std::uint64_t> times(std::uint64_t count, std::uint64_t unit);

/// Bytes as Docker writes them: "1073741824", "512m", "1.5g", "2 GiB"; b, k, m, g, t and p are
/// powers of 1024. At most what a signed 64-bit number holds, which is what kernels take.
Result<std::uint64_t> bytes_from(std::string_view text);

}  // namespace berth
