// SPDX-License-Identifier: Apache-2.0
// What may be done here at all, as roles name it: read off the table of routes.
#include <set>

#include "base/text.h"
#include "server/door/route.h"
#include "wire/arm/resource.h"

namespace berth::server {
namespace {

namespace json = boost::json;

constexpr std::string_view kProvider = "Microsoft.MachineLearningServices/";

/// "Microsoft.MachineLearningServices/workspaces/computes/listNodes/action" is 'listNodes' of
/// 'workspaces/computes'.
json::object shown(std::string_view action) {
  std::string_view rest = action.substr(kProvider.size());
  if (rest.ends_with("/action")) rest.remove_suffix(std::string_view("/action").size());
  const std::size_t slash = rest.rfind('/');
  const std::string resource(rest.substr(0, slash));
  const std::string operation(rest.substr(slash + 1));
  return {{"name", action},
          {"isDataAction", false},
          {"display",
           {{"provider", "Berth"},
            {"resource", resource},
            {"operation", operation},
            {"description", fmt::format("{}: {}", resource, operation)}}}};
}

Result<io::Reply> list(Call&) {
  std::set<std::string_view> actions;
  const std::vector<Route> routes = all_routes();
  for (const Route& route : routes) {
    const std::string_view action = route.permission.action;
    if (action.starts_with(kProvider)) actions.insert(action);
  }
  json::array values;
  for (const std::string_view action : actions) values.push_back(shown(action));
  return json_reply(200, wire::arm::page(std::move(values)));
}

/// For everybody who may see anything.
constexpr Permission kRead = {Permission::Kind::Action,
                              "Microsoft.MachineLearningServices/workspaces/read",
                              Permission::Scope::Somewhere};

constexpr Route kRoutes[] = {
    {"GET", "/providers/Microsoft.MachineLearningServices/operations", kRead, BodyKind::None, list},
};

}  // namespace

std::span<const Route> operation_list_routes() { return kRoutes; }

}  // namespace berth::server
