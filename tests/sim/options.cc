// SPDX-License-Identifier: Apache-2.0
#include "sim/options.h"

#include <fmt/format.h>

#include <charconv>

namespace berth::sim {
namespace {

Result<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return fail(Code::InvalidArgument, fmt::format("'{}' is not a number", text));
}

}  // namespace

Result<RunOptions> read_options(std::span<const char* const> words) {
  RunOptions options;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const std::string_view flag = words[i];
    if (i + 1 == words.size()) {
      return fail(Code::InvalidArgument, fmt::format("'{}' needs a value", flag));
    }
    const std::string_view value = words[i + 1];
    const std::size_t dots = value.find("..");
    if (flag == "--seed") {
      options.from = options.to = TRY(number(value));
      options.shows_journal = true;
    } else if (flag == "--count") {
      options.to = options.from + TRY(number(value)) - 1;
    } else if (flag == "--seeds" && dots != std::string_view::npos) {
      options.from = TRY(number(value.substr(0, dots)));
      options.to = TRY(number(value.substr(dots + 2)));
    } else {
      return fail(Code::InvalidArgument,
                  fmt::format("'{}' is not '--seed N', '--seeds FROM..TO' or '--count N'", flag));
    }
  }
  return options;
}

}  // namespace berth::sim
