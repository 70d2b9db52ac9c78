// SPDX-License-Identifier: Apache-2.0
#include "server/paging.h"

#include <charconv>

#include "base/text.h"

namespace berth::server {
namespace {

using View = store::JobQuery::View;

Result<std::int64_t> number_of(std::string_view text, std::string_view name) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || stopped != end || number < 0) {
    return fail(Code::InvalidArgument, fmt::format("'{}' is not a number of ours", name),
                std::string(name));
  }
  return number;
}

bool is_skip(std::string_view pair) {
  const Result<std::string> name = percent_decode(pair.substr(0, pair.find('=')));
  return name && equals_ignoring_case(*name, "$skip");
}

}  // namespace

Result<std::size_t> page_size(const Call& call) {
  for (const std::string_view name : {"$top", "maxResults", "count"}) {
    const std::string text = call.query_value(name);
    if (text.empty()) continue;
    const std::int64_t size = TRY(number_of(text, name));
    if (size == 0) {
      return fail(Code::InvalidArgument, fmt::format("'{}' must be at least 1", name),
                  std::string(name));
    }
    return std::min<std::size_t>(static_cast<std::size_t>(size), kLargestPage);
  }
  return kDefaultPage;
}

Result<std::int64_t> continuation(const Call& call) {
  const std::string text = call.query_value("$skip");
  if (text.empty()) return 0;
  return number_of(text, "$skip");
}

Result<View> list_view(const Call& call) {
  const std::string text = call.query_value("listViewType");
  if (text.empty() || equals_ignoring_case(text, "ActiveOnly")) return View::ActiveOnly;
  if (equals_ignoring_case(text, "ArchivedOnly")) return View::ArchivedOnly;
  if (equals_ignoring_case(text, "All")) return View::All;
  return fail(Code::InvalidArgument, "listViewType is ActiveOnly, ArchivedOnly or All",
              "listViewType");
}

std::string next_link(const Call& call, std::int64_t skip) {
  std::string link = call.base_url() + call.request.head.path + "?";
  for (const std::string_view pair : split(call.request.head.query, '&')) {
    if (pair.empty() || is_skip(pair)) continue;
    link.append(pair).append("&");
  }
  return link + "%24skip=" + std::to_string(skip);
}

}  // namespace berth::server
