// SPDX-License-Identifier: Apache-2.0
#include "lang/arm_template/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace berth::lang::arm_template {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// "'a' → 'b' → 'a'": from any that is left, each to one that it waits for.
std::string circle(const std::vector<PlannedResource>& resources,
                   const std::vector<std::size_t>& places) {
  std::size_t at = static_cast<std::size_t>(std::ranges::find(places, kNone) - places.begin());
  std::vector<std::size_t> way;
  while (std::ranges::find(way, at) == way.end()) {
    way.push_back(at);
    at = *std::ranges::find_if(resources[at].after,
                               [&](std::size_t other) { return places[other] == kNone; });
  }
  way.erase(way.begin(), std::ranges::find(way, at));
  std::string text;
  for (const std::size_t each : way) text += fmt::format("'{}' → ", resources[each].name);
  return text + fmt::format("'{}'", resources[at].name);
}

}  // namespace

Result<std::vector<PlannedResource>> in_order(std::vector<PlannedResource> resources) {
  std::vector<std::size_t> missing;  ///< How many each still waits for.
  std::vector<std::vector<std::size_t>> followers(resources.size());
  std::set<std::size_t> ready;
  for (std::size_t index = 0; index < resources.size(); ++index) {
    missing.push_back(resources[index].after.size());
    if (missing[index] == 0) ready.insert(index);
    for (const std::size_t other : resources[index].after) followers[other].push_back(index);
  }
  std::vector<std::size_t> places(resources.size(), kNone);  ///< Where each comes to stand.
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t next = *ready.begin();
    ready.erase(ready.begin());
    places[next] = order.size();
    order.push_back(next);
    for (const std::size_t follower : followers[next]) {
      if (--missing[follower] == 0) ready.insert(follower);
    }
  }
  if (order.size() < resources.size()) {
    return fail(Code::InvalidArgument,
                fmt::format("these wait for each other: {}", circle(resources, places)),
                "resources");
  }
  std::vector<PlannedResource> sorted;
  for (const std::size_t index : order) {
    for (std::size_t& other : resources[index].after) other = places[other];
    sorted.push_back(std::move(resources[index]));
  }
  return sorted;
}

}  // namespace berth::lang::arm_template
