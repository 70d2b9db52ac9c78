// SPDX-License-Identifier: Apache-2.0
#include "wire/blob/range.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"

namespace berth::wire::blob {
namespace {

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || stopped != end) return std::nullopt;
  return number;
}

tl::unexpected<Error> beyond(std::uint64_t size) {
  return fail(Code::InvalidArgument, fmt::format("the range lies beyond the blob's {} bytes", size),
              "InvalidRange");
}

}  // namespace

Result<std::optional<ByteRange>> parse_range(std::string_view header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  const std::optional<ByteRange> none;
  if (!starts_with_ignoring_case(header, kUnit)) return none;
  const std::string_view text = trim(header.substr(kUnit.size()));
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return none;
  const auto first = number_of(text.substr(0, dash));
  const auto last = number_of(text.substr(dash + 1));

  if (dash == 0) {  // The last so many bytes.
    if (!last) return none;
    const std::uint64_t length = std::min(*last, size);
    if (length == 0) return beyond(size);
    return ByteRange{size - length, length};
  }
  const bool is_open = dash + 1 == text.size();
  if (!first || (!last && !is_open) || (last && *last < *first)) return none;
  if (*first >= size) return beyond(size);
  const std::uint64_t end = is_open ? size - 1 : std::min(*last, size - 1);
  return ByteRange{*first, end - *first + 1};
}

}  // namespace berth::wire::blob
