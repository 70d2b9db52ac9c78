// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string_view>

namespace berth::cli {

/// A count in an answer; 0 when it is not there.
inline std::uint64_t number_at(const boost::json::object& object, std::string_view key) {
  const boost::json::value* found = object.if_contains(key);
  if (found == nullptr) return 0;
  if (found->is_uint64()) return found->get_uint64();
  return found->is_int64() ? static_cast<std::uint64_t>(found->get_int64()) : 0;
}

}  // namespace berth::cli
