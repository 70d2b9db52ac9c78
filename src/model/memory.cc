// SPDX-License-Identifier: Apache-2.0
#include "model/memory.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/text.h"

namespace berth::model {
namespace {

/// MiB in one of the unit; 0 when it is none.
double mib_in(std::string_view unit) {
  std::string name = to_lower(unit);
  if (name.ends_with('b')) name.pop_back();
  if (name.ends_with('i')) name.pop_back();
  if (name == "m") return 1;
  if (name == "g") return 1024;
  if (name == "t") return 1024.0 * 1024;
  return 0;
}

}  // namespace

Result<std::int64_t> memory_mib_from(std::string_view text) {
  constexpr double kMost = 0x1p43;  // So that it fits as bytes, too.
  const std::string_view all = trim(text);
  double number = 0;
  const auto [end, failed] = std::from_chars(all.data(), all.data() + all.size(), number);
  const std::string_view unit = trim(all.substr(static_cast<std::size_t>(end - all.data())));
  const double mib = number * mib_in(unit);
  const bool is_whole = mib >= 1 && mib < kMost && std::floor(mib) == mib;
  if (failed == std::errc() && is_whole) return static_cast<std::int64_t>(mib);
  return fail(Code::InvalidArgument,
              fmt::format("'{}' is not an amount of memory; write a number and its unit, such as "
                          "64Gi or 512Mi",
                          to_valid_utf8(text)));
}

}  // namespace berth::model
