// SPDX-License-Identifier: Apache-2.0
// Amounts of memory as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::model {

/// "64Gi", "512 MiB", "1.5T" -> MiB. A number alone is refused: it could be anything.
Result<std::int64_t> memory_mib_from(std::string_view text);

}  // namespace berth::model
