// SPDX-License-Identifier: Apache-2.0
#include "io/message/http.h"

#include <algorithm>

#include "base/text.h"

namespace berth::io {
namespace {

Result<std::string> decode_component(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return percent_decode(spaced);
}

}  // namespace

std::string_view header(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (equals_ignoring_case(key, name)) return value;
  }
  return {};
}

Result<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> values;
  if (query.empty()) return values;
  for (const std::string_view part : split(query, '&')) {
    if (part.empty()) continue;
    const std::size_t equals = std::min(part.find('='), part.size());
    std::string name = TRY(decode_component(part.substr(0, equals)));
    std::string value =
        equals == part.size() ? std::string() : TRY(decode_component(part.substr(equals + 1)));
    values.emplace_back(std::move(name), std::move(value));
  }
  return values;
}

}  // namespace berth::io
