// SPDX-License-Identifier: Apache-2.0
// What ARM's lists have in common: page size, continuation, archived or not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/door/call.h"
#include "store/store.h"

namespace berth::server {

inline constexpr std::size_t kDefaultPage = 50;
inline constexpr std::size_t kLargestPage = 1000;

/// `$top`, or the first of the other names clients have for it.
Result<std::size_t> page_size(const Call& call);

/// `$skip`, or `$skipToken`: the number that next_link was given for this list; 0 when there is
/// none. What we did not give out, or gave out for another list, is an error.
Result<std::int64_t> continuation(const Call& call);

/// A number of things that the query has under this name; 0 when there is none.
Result<std::size_t> count_of(const Call& call, std::string_view name);

Result<store::JobQuery::View> list_view(const Call& call);

/// Of a list of which one more than `size` was asked for: takes that one off, and says whether
/// there is another page. Pages of large rows are shorter than was asked for.
template <typename Row>
bool take_page(store::Page<Row>& rows, std::size_t size) {
  const bool has_more = rows.is_cut || rows.size() > size;
  if (rows.size() > size) rows.resize(size);
  return has_more;
}

/// The absolute URL of the page that continues at `skip`: this request's, with all else it asked
/// for.
std::string next_link(const Call& call, std::int64_t skip);

}  // namespace berth::server
