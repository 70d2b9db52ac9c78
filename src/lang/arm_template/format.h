// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lang/arm_template/value.h"

namespace berth::lang::arm_template {

/// "{0}-{1,5}-{2:D3}" with the values put in. Of .NET's formats of numbers: D, N0 to N9, X and x
/// with a width.
Result<std::string> format_text(std::string_view pattern, std::span<const json::value> values);

}  // namespace berth::lang::arm_template
