// SPDX-License-Identifier: Apache-2.0
// Sizes, usages and quotas of a location: what clients ask before they make a compute.
#include "base/check.h"
#include "core/rules/compute_rules.h"
#include "core/rules/quota.h"
#include "server/door/route.h"
#include "server/fleet/compute_view.h"
#include "server/plane/computes_desk.h"
#include "server/plane/ledger.h"
#include "wire/arm/quota.h"
#include "wire/arm/resource.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;

Result<io::Reply> list_sizes(Call& call) {
  json::array sizes;
  for (const auto& [key, size] : call.services.ledger.state().settings.sizes) {
    sizes.push_back(arm::to_json(size));
  }
  return json_reply(200, arm::page(std::move(sizes)));
}

json::array records(const Call& call, json::object (*write)(const arm::UsageRecord&)) {
  const core::State& state = call.services.ledger.state();
  const std::string& location = call.parameter("location");
  json::array array;
  for (arm::UsageRecord& usage : usages_of(state, core::site_of(state, location), location)) {
    usage.id = fmt::format("{}/{}", call.request.head.path, usage.name);
    array.push_back(write(usage));
  }
  return array;
}

Result<io::Reply> list_usages(Call& call) {
  return json_reply(200, arm::page(records(call, arm::usage_json)));
}

Result<io::Reply> list_quotas(Call& call) {
  return json_reply(200, arm::page(records(call, arm::quota_json)));
}

const model::Site& site_at(const core::State& state, const std::string& location) {
  const auto found = state.sites.find(core::site_of(state, location));
  CHECK(found != state.sites.end(), "the site 'local' is always there");
  return found->second;
}

/// The capacity of the site is the quota. Each change is made or not by itself, as in Azure; a
/// limit that no site has is an error, and then nothing changes.
Result<io::Reply> update_quotas(Call& call) {
  const auto asked = TRY(arm::quotas_from_json(TRY(json_body(call))));
  const core::State& state = call.services.ledger.state();
  const model::Site before = site_at(state, call.parameter("location"));
  model::Site site = before;
  json::array results;
  for (const arm::QuotaRequest& quota : asked) {
    const core::QuotaStatus status = core::change_quota(state, {quota.name, quota.limit}, site);
    results.push_back(arm::to_json(quota, boost::describe::enum_to_string(status, "Failure")));
  }
  if (!(site.capacity == before.capacity)) TRY(call.services.computes.put_site(std::move(site)));
  return json_reply(200, arm::page(std::move(results)));
}

constexpr Permission allow(const char* action) { return {Permission::Kind::Action, action}; }

/// The same for everybody; what others use of a site is for those who see all of it.
constexpr Permission kSizes = {Permission::Kind::Action,
                               "Microsoft.MachineLearningServices/locations/vmsizes/read",
                               Permission::Scope::Somewhere};
constexpr Permission kUsages = allow("Microsoft.MachineLearningServices/locations/usages/read");
constexpr Permission kQuotas = allow("Microsoft.MachineLearningServices/locations/quotas/read");
constexpr Permission kUpdate =
    allow("Microsoft.MachineLearningServices/locations/updateQuotas/action");

constexpr Route kRoutes[] = {
    {"GET",
     "/subscriptions/{subscriptionId}/providers/Microsoft.MachineLearningServices/locations/"
     "{location}/vmSizes",
     kSizes, BodyKind::None, list_sizes},
    {"GET",
     "/subscriptions/{subscriptionId}/providers/Microsoft.MachineLearningServices/locations/"
     "{location}/usages",
     kUsages, BodyKind::None, list_usages},
    {"GET",
     "/subscriptions/{subscriptionId}/providers/Microsoft.MachineLearningServices/locations/"
     "{location}/quotas",
     kQuotas, BodyKind::None, list_quotas},
    {"POST",
     "/subscriptions/{subscriptionId}/providers/Microsoft.MachineLearningServices/locations/"
     "{location}/updateQuotas",
     kUpdate, BodyKind::Json, update_quotas},
};

}  // namespace

std::span<const Route> location_routes() { return kRoutes; }

}  // namespace berth::server
