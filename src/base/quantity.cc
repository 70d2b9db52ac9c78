// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "base/text.h"

namespace berth {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostDigits =
    9;  // Of a fraction; finer is less than a byte or nobody's wish.

tl::unexpected<Error> wrong(std::string_view text, std::string_view why) {
  return fail(Code::InvalidArgument, fmt::format("'{}' is {}", to_valid_utf8(text), why));
}

/// "m", "MB", "MiB": 1 << 20. Nothing for what is no unit.
std::optional<std::uint64_t> unit_of(std::string_view text) {
  std::string name = to_lower(text);
  if (name.empty() || name == "b") return 1;
  if (name.ends_with('b')) name.pop_back();
  if (name.size() > 1 && name.ends_with('i')) name.pop_back();
  const std::size_t power = std::string_view("kmgtp").find(name);
  if (name.size() != 1 || power == std::string_view::npos) return std::nullopt;
  return std::uint64_t{1} << (10 * (power + 1));
}

/// What the digits behind a point are of the unit.
std::uint64_t share_of(std::string_view digits, std::uint64_t unit) {
  double share = 0;
  double place = 0.1;
  for (const char digit : digits.substr(0, kMostDigits)) {
    share += (digit - '0') * place;
    place /= 10;
  }
  return static_cast<std::uint64_t>(share * static_cast<double>(unit));
}

std::string_view leading_digits(std::string_view text) {
  return text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
}

}  // namespace

std::optional<std::uint64_t> times(std::uint64_t count, std::uint64_t unit) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(count, unit, &product)) return std::nullopt;
  return product;
}

Result<std::uint64_t> bytes_from(std::string_view text) {
  constexpr std::string_view kHint =
      "not a number of bytes; write a whole number and its unit, such as 512m or 2g";
  std::string_view rest = trim(text);
  const std::string_view whole = leading_digits(rest);
  if (whole.empty()) return wrong(text, kHint);
  rest.remove_prefix(whole.size());
  std::string_view fraction;
  if (rest.starts_with('.')) {
    fraction = leading_digits(rest.substr(1));
    if (fraction.empty()) return wrong(text, kHint);
    rest.remove_prefix(fraction.size() + 1);
  }
  const auto unit = unit_of(trim(rest));
  if (!unit) return wrong(text, kHint);
  std::uint64_t count = 0;
  const auto read = std::from_chars(whole.data(), whole.data() + whole.size(), count);
  const auto bytes = read.ec == std::errc() ? times(count, *unit) : std::nullopt;
  const std::uint64_t share = share_of(fraction, *unit);
  if (!bytes || *bytes > kMost - share) return wrong(text, "more bytes than there can be");
  return *bytes + share;
}

}  // namespace berth
