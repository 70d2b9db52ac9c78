// SPDX-License-Identifier: Apache-2.0
#include "model/array.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/text.h"

namespace berth::model {
namespace {

std::optional<int> index_from(std::string_view text) {
  int number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = failed == std::errc() && end == text.data() + text.size();
  return is_whole && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<ArrayWork> array_from(std::string_view text, CommandWork each) {
  const std::string_view range = trim(text.substr(0, text.find('%')));
  const std::size_t percent = text.find('%');
  const std::size_t dash = range.find('-');
  const auto first = index_from(range.substr(0, dash));
  const auto last = dash == range.npos ? first : index_from(range.substr(dash + 1));
  const auto at_once =
      percent == text.npos ? std::optional(0) : index_from(trim(text.substr(percent + 1)));
  const bool is_right = first && last && at_once && (percent == text.npos || *at_once > 0);
  if (!is_right) {
    return fail(Code::InvalidArgument,
                fmt::format("'{}' is not a range of indices: 1-50, or 1-50%4 for no more than four "
                            "at once",
                            to_valid_utf8(text)),
                fmt::format("properties.{}", kArrayProperty));
  }
  return ArrayWork{.each = std::move(each), .first = *first, .last = *last, .at_once = *at_once};
}

std::string to_text(const ArrayWork& array) {
  const std::string range = fmt::format("{}-{}", array.first, array.last);
  return array.at_once == 0 ? range : fmt::format("{}%{}", range, array.at_once);
}

}  // namespace berth::model
