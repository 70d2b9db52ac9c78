// SPDX-License-Identifier: Apache-2.0
// Text counted in characters, as templates count it, and not in bytes of UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace berth::lang::arm_template {

std::size_t character_count(std::string_view text);
/// The byte at which the character of this number begins; the end, when there are fewer.
std::size_t byte_of(std::string_view text, std::size_t character);
/// So many characters from there on.
std::string_view characters(std::string_view text, std::size_t first, std::size_t count);

}  // namespace berth::lang::arm_template
