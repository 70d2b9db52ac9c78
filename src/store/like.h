// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace berth::store {

/// A LIKE pattern ('%' any text, '_' any character) as one for SQLite's GLOB, which heeds case
/// where its LIKE does not.
std::string glob_of_like(std::string_view pattern);

}  // namespace berth::store
