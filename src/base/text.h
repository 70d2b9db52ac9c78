// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

std::string to_lower(std::string_view text);
bool equals_ignoring_case(std::string_view left, std::string_view right);
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);
std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);

/// The candidate a person most likely meant, if any is near enough to be worth suggesting.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

/// The bytes with everything that is not valid UTF-8, and every NUL, replaced by U+FFFD.
std::string to_valid_utf8(std::string_view bytes);
bool is_valid_utf8(std::string_view bytes);

/// One pass of percent-decoding; a broken escape or a NUL is an error.
Result<std::string> percent_decode(std::string_view text);
/// Escapes everything but unreserved characters, and '/' when keep_slashes.
std::string percent_encode(std::string_view text, bool keep_slashes = false);

std::string to_hex(std::string_view bytes);
std::string to_base64(std::string_view bytes);
Result<std::string> from_base64(std::string_view text);

/// Names that users choose for jobs and assets: 1-255 of letters, digits, '-', '_' and '.',
/// starting with a letter, digit or '_'. Rules out every path trick ("..", "/", NUL, control
/// characters).
bool is_resource_name(std::string_view name);

/// "1.5 GiB", "312 B".
std::string human_bytes(std::uint64_t bytes);

}  // namespace berth
