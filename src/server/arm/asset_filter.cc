// SPDX-License-Identifier: Apache-2.0
#include "server/arm/asset_filter.h"

#include <algorithm>

#include "base/text.h"
#include "server/door/paging.h"

namespace berth::server {
namespace {

using Map = std::map<std::string, std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// "k1,k2=v2": a key without a value asks only whether it is there.
Pairs pairs_of(const std::string& text) {
  Pairs pairs;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view key = trim(part.substr(0, equals));
    if (key.empty()) continue;
    const bool has_value = equals != std::string_view::npos;
    pairs.emplace_back(key, has_value ? trim(part.substr(equals + 1)) : std::string_view());
  }
  return pairs;
}

bool has_all(const Map& map, const Pairs& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& pair) {
    const auto found = map.find(pair.first);
    return found != map.end() && (pair.second.empty() || found->second == pair.second);
  });
}

}  // namespace

Result<VersionFilter> VersionFilter::of(const Call& call) {
  VersionFilter filter;
  const std::string tags = call.query_value("$tags");
  filter.tags_ = pairs_of(tags.empty() ? call.query_value("tags") : tags);
  filter.properties_ = pairs_of(call.query_value("properties"));
  filter.version_ = call.query_value("version");
  filter.description_ = call.query_value("description");
  filter.offset_ = TRY(count_of(call, "offset"));
  if (!call.query_value("feed").empty()) {
    return fail(Code::NotSupported, "Berth has no feeds: leave 'feed' out to list this workspace's",
                "feed");
  }
  return filter;
}

bool VersionFilter::takes(const model::Asset& asset) const {
  return (version_.empty() || asset.version == version_) &&
         asset.description.find(description_) != std::string::npos && has_all(asset.tags, tags_) &&
         has_all(asset.properties, properties_);
}

}  // namespace berth::server
