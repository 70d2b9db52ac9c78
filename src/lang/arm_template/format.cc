// SPDX-License-Identifier: Apache-2.0
#include "lang/arm_template/format.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "lang/arm_template/characters.h"

namespace berth::lang::arm_template {
namespace {

constexpr int kWidest = 1000;
constexpr std::size_t kLongest = 4u << 20;

tl::unexpected<Error> wrong(std::string message) {
  return fail(Code::InvalidArgument, std::move(message));
}

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || stopped != end || number > kWidest || number < -kWidest) {
    return std::nullopt;
  }
  return number;
}

/// 1234567 as 1,234,567.
std::string grouped(std::int64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    const bool is_boundary = at > 0 && (digits.size() - at) % 3 == 0 && digits[at - 1] != '-';
    if (is_boundary) text += ',';
    text += digits[at];
  }
  return text;
}

Result<std::string> formatted(const json::value& value, std::string_view how) {
  if (how.empty()) return to_text(value);
  const std::string_view digits = how.substr(1);
  const std::optional<int> width = digits.empty() ? 0 : whole_number(digits);
  if (value.is_int64() && width && *width >= 0) {
    const std::int64_t number = value.get_int64();
    switch (how.front()) {
      case 'D':
      case 'd': return fmt::format("{:0{}}", number, *width + (number < 0 ? 1 : 0));
      case 'X': return fmt::format("{:0{}X}", static_cast<std::uint64_t>(number), *width);
      case 'x': return fmt::format("{:0{}x}", static_cast<std::uint64_t>(number), *width);
      case 'N':
      case 'n': {
        const int decimals = digits.empty() ? 2 : *width;
        if (decimals > 9) break;
        return grouped(number) +
               (decimals == 0 ? "" : "." + std::string(static_cast<std::size_t>(decimals), '0'));
      }
      default: break;
    }
  }
  return wrong(fmt::format("the format ':{}' is not one of :D4, :N0, :X8 of a whole number", how));
}

/// What stands between { and }.
Result<std::string> item(std::string_view inside, std::span<const json::value> values) {
  const std::size_t colon = inside.find(':');
  const std::string_view how = colon == inside.npos ? "" : inside.substr(colon + 1);
  inside = inside.substr(0, colon);
  const std::size_t comma = inside.find(',');
  const auto index = whole_number(inside.substr(0, comma));
  const auto width =
      comma == inside.npos ? std::optional<int>(0) : whole_number(inside.substr(comma + 1));
  if (!index || !width || *index < 0) {
    return wrong("between { and } stands the number of a value");
  }
  if (static_cast<std::size_t>(*index) >= values.size()) {
    return wrong(fmt::format("there is no value for {{{}}}", *index));
  }
  std::string text = TRY(formatted(values[static_cast<std::size_t>(*index)], how));
  const auto wanted = static_cast<std::size_t>(std::abs(*width));
  const std::size_t have = character_count(text);
  if (have >= wanted) return text;
  const std::string blanks(wanted - have, ' ');
  return *width > 0 ? blanks + text : text + blanks;
}

}  // namespace

Result<std::string> format_text(std::string_view pattern, std::span<const json::value> values) {
  std::string text;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char next = pattern[at];
    if ((next == '{' || next == '}') && pattern.substr(at + 1, 1) == std::string_view(&next, 1)) {
      text += pattern[at++];  // Two stand for one.
    } else if (next == '{') {
      const std::size_t end = pattern.find('}', at);
      if (end == pattern.npos) return wrong("a { has no }");
      text += TRY(item(pattern.substr(at + 1, end - at - 1), values));
      at = end;
    } else if (next == '}') {
      return wrong("a } has no {");
    } else {
      text += next;
    }
    if (text.size() > kLongest) return wrong("the result is too long");
  }
  return text;
}

}  // namespace berth::lang::arm_template
