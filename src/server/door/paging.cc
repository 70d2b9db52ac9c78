// SPDX-License-Identifier: Apache-2.0
#include "server/door/paging.h"

#include <algorithm>
#include <charconv>

#include "base/digest.h"
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

constexpr std::string_view kSkipNames[] = {"$skip", "$skipToken"};

bool is_skip(std::string_view pair) {
  const Result<std::string> name = percent_decode(pair.substr(0, pair.find('=')));
  return name && std::ranges::any_of(kSkipNames, [&](std::string_view known) {
           return equals_ignoring_case(*name, known);
         });
}

/// A place in a list, and a mark of both: one of another list, or a number somebody made up, would
/// silently show the wrong page. Nothing is protected by it: who may read a list may read all
/// of it.
std::string token(const Call& call, std::int64_t at) {
  const std::string mark =
      to_hex(sha256(fmt::format("{} {}", to_lower(call.request.head.path), at)));
  return fmt::format("{}-{}", at, mark.substr(0, 8));
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
  for (const std::string_view name : kSkipNames) {
    const std::string text = call.query_value(name);
    if (text.empty()) continue;
    const std::size_t dash = text.find('-');
    const Result<std::int64_t> at = number_of(std::string_view(text).substr(0, dash), name);
    if (at && text == token(call, *at)) return *at;
    return fail(Code::InvalidArgument,
                fmt::format("'{}' is not a continuation of this list; follow the nextLink of the "
                            "page before, as it is",
                            name),
                std::string(name));
  }
  return 0;
}

Result<std::size_t> count_of(const Call& call, std::string_view name) {
  const std::string text = call.query_value(name);
  if (text.empty()) return 0;
  return static_cast<std::size_t>(TRY(number_of(text, name)));
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
  return link + "%24skip=" + token(call, skip);
}

}  // namespace berth::server
