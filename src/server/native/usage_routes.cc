// SPDX-License-Identifier: Apache-2.0
// Time that nodes were there and that jobs had them: what cost reports add up.
#include "base/clock.h"
#include "server/door/route.h"
#include "wire/arm/compute.h"
#include "wire/arm/resource.h"

namespace berth::server {
namespace {

namespace json = boost::json;

json::object shown(const model::Usage& usage) {
  const std::chrono::duration<double> time = usage.ended_at - usage.began_at;
  return {{"compute", usage.compute},
          {"node", usage.node},
          {"job", usage.job.empty() ? json::value(nullptr) : json::value(usage.job)},
          {"attempt", usage.attempt},
          {"size", usage.size},
          {"tier", wire::arm::to_yaml(usage.tier)},
          {"began_at", to_iso8601(usage.began_at)},
          {"ended_at", to_iso8601(usage.ended_at)},
          {"seconds", time.count()},
          {"price_per_hour", usage.price_per_hour},
          {"cost", usage.price_per_hour * time.count() / 3600}};
}

Result<WallTime> time_of(const Call& call, const std::string& name, WallTime otherwise) {
  const std::string text = call.query_value(name);
  if (text.empty()) return otherwise;
  const Result<WallTime> time = wall_time_from_iso8601(text);
  if (time) return *time;
  return fail(Code::InvalidArgument,
              fmt::format("'{}' must be a time such as 2026-11-16T00:45:12Z", name), name);
}

/// Usage that ended in [from, to), oldest first.
Result<io::Reply> list(Call& call) {
  store::UsageQuery query{.workspace = call.workspace->id};
  query.from = TRY(time_of(call, "from", query.from));
  query.to = TRY(time_of(call, "to", query.to));
  const std::vector<model::Usage> found = TRY(call.services.store.usage(query));
  json::array values;
  for (const model::Usage& usage : found) values.push_back(shown(usage));
  json::object page = wire::arm::page(std::move(values));
  page["truncated"] = found.size() >= query.limit;
  return json_reply(200, page);
}

constexpr Permission kRead = {Permission::Kind::Action, "Berth/usage/read"};

constexpr Route kRoutes[] = {{"GET", "/berth/v1/W/usage", kRead, BodyKind::None, list}};

}  // namespace

std::span<const Route> usage_routes() { return kRoutes; }

}  // namespace berth::server
