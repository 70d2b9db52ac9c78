// SPDX-License-Identifier: Apache-2.0
#include "cli/period.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "base/text.h"

namespace berth::cli {
namespace {

struct Unit {
  char letter;
  std::int64_t seconds;
};

// From the largest to the smallest.
constexpr Unit kUnits[] = {{'w', 604'800}, {'d', 86'400}, {'h', 3'600}, {'m', 60}, {'s', 1}};
constexpr std::int64_t kMost = 1'000'000'000;

}  // namespace

Result<std::chrono::seconds> period_from(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : kUnits) {
    const bool fits = failed == std::errc() && rest.size() == 1 && rest.front() == unit.letter;
    if (fits && number > 0 && number <= kMost / unit.seconds * 4) {
      return std::chrono::seconds(number * unit.seconds);
    }
  }
  return fail(Code::InvalidArgument,
              fmt::format("'{}' is not a time such as 30d, 12h, 45m or 2w", to_valid_utf8(text)));
}

std::string to_text(std::chrono::seconds period) {
  for (const Unit& unit : kUnits) {
    if (unit.letter != 'w' && period.count() % unit.seconds == 0) {
      return fmt::format("{}{}", period.count() / unit.seconds, unit.letter);
    }
  }
  return {};
}

}  // namespace berth::cli
