// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace berth::store {

/// Does the text match a LIKE pattern: '%' is any text, '_' any character, and case matters or
/// (for ASCII) does not? Takes time in proportion to both lengths at worst, whatever the pattern:
/// SQLite's own LIKE and GLOB can be kept busy for hours. In SQL: is_like(text, pattern) and
/// is_ilike(text, pattern).
bool is_like(std::string_view text, std::string_view pattern, bool heeds_case);

}  // namespace berth::store
