// SPDX-License-Identifier: Apache-2.0
#include "base/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace berth::record {

namespace detail {

void append_quoted(std::string& text, std::string_view string) {
  text += '"';
  std::size_t plain = 0;  // From here on nothing has been appended yet.
  for (std::size_t at = 0; at < string.size(); ++at) {
    const auto byte = static_cast<unsigned char>(string[at]);
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    text.append(string, plain, at - plain);
    plain = at + 1;
    if (byte < 0x20) {
      text += fmt::format("\\u{:04x}", byte);
    } else {
      text += {'\\', string[at]};
    }
  }
  text.append(string, plain);
  text += '"';
}

void append_integer(std::string& text, std::int64_t number) {
  const fmt::format_int digits(number);
  text.append(digits.data(), digits.size());
}

void append_integer(std::string& text, std::uint64_t number) {
  const fmt::format_int digits(number);
  text.append(digits.data(), digits.size());
}

}  // namespace detail

bool is_finite(const json::value& value) {
  if (const double* number = value.if_double()) return std::isfinite(*number);
  if (const json::array* array = value.if_array()) return std::ranges::all_of(*array, is_finite);
  if (const json::object* object = value.if_object()) {
    return std::ranges::all_of(*object, [](const auto& each) { return is_finite(each.value()); });
  }
  return true;
}

}  // namespace berth::record
