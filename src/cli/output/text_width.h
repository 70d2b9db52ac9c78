// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::cli {

/// How many terminal columns valid UTF-8 text takes: wide characters two, combining ones none.
std::size_t display_width(std::string_view text);

/// The text, or as much of it as fits with an ellipsis at the end.
std::string truncated(std::string_view text, std::size_t columns);

/// The text with spaces behind it up to the width.
std::string padded(std::string_view text, std::size_t columns);

}  // namespace berth::cli
