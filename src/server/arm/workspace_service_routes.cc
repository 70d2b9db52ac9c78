// SPDX-License-Identifier: Apache-2.0
// What Azure has around a workspace: keys of its storage account, notebooks, networks. Berth has
// none of these; each address says so, or what stands in its place.
#include <filesystem>

#include "server/door/route.h"
#include "server/plane/ledger.h"
#include "wire/arm/resource.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;

// ---- Diagnosis ---------------------------------------------------------------------------------

/// Below this, jobs soon cannot write their logs.
constexpr std::uintmax_t kLittleSpace = std::uintmax_t{1} << 30;

json::object finding(std::string_view code, std::string_view level, std::string message) {
  return {{"code", code}, {"level", level}, {"message", std::move(message)}};
}

json::array disk_findings(const Call& call) {
  std::error_code failed;
  const auto space = std::filesystem::space(call.services.facts.home, failed);
  if (failed) {
    return {finding("StateDirectoryUnreadable", "Error",
                    fmt::format("the state directory cannot be read: {}", failed.message()))};
  }
  if (space.available >= kLittleSpace) return {};
  return {finding(
      "LittleSpace", "Warning",
      fmt::format("the disk of the state directory has {} MiB left", space.available >> 20))};
}

json::array compute_findings(const Call& call) {
  json::array findings;
  for (const auto& [key, compute] : call.services.ledger.state().computes) {
    if (key.workspace != call.workspace->id || compute.start_error.empty()) continue;
    findings.push_back(finding("NodeStartFailed", "Error",
                               fmt::format("the nodes of compute '{}' cannot be started: {}",
                                           compute.name, compute.start_error)));
  }
  return findings;
}

/// Answered at once, though clients take it for a long-running operation.
Result<io::Reply> diagnose(Call& call) {
  json::object value;
  for (const char* part : {"userDefinedRouteResults", "networkSecurityRuleResults",
                           "resourceLockResults", "dnsResolutionResults", "keyVaultResults",
                           "containerRegistryResults", "applicationInsightsResults"}) {
    value[part] = json::array();
  }
  value["storageAccountResults"] = disk_findings(call);
  value["otherResults"] = compute_findings(call);
  return json_reply(200, json::object{{"value", std::move(value)}});
}

// ---- What there is nothing of ------------------------------------------------------------------

/// No key was copied from elsewhere, so none can be out of date.
Result<io::Reply> resync_keys(Call&) { return io::Reply{.status = 200, .body = "{}"}; }

Result<io::Reply> empty_page(Call&) { return json_reply(200, arm::page({})); }

Result<io::Reply> refuse_keys(Call& call) {
  return fail(Code::NotSupported,
              fmt::format("workspace '{}' has no account keys to list: the listSecrets of a "
                          "datastore gives a signature that expires",
                          call.workspace->name));
}

Result<io::Reply> refuse_notebooks(Call&) {
  return fail(Code::NotSupported, "Berth has no notebooks yet; nothing was made or given out");
}

constexpr Permission allow(const char* action) { return {Permission::Kind::Action, action}; }

constexpr Permission kDiagnose =
    allow("Microsoft.MachineLearningServices/workspaces/diagnose/action");
constexpr Permission kListKeys =
    allow("Microsoft.MachineLearningServices/workspaces/listKeys/action");
constexpr Permission kResyncKeys =
    allow("Microsoft.MachineLearningServices/workspaces/resyncKeys/action");
constexpr Permission kStorageKeys =
    allow("Microsoft.MachineLearningServices/workspaces/listStorageAccountKeys/action");
constexpr Permission kNotebookToken =
    allow("Microsoft.MachineLearningServices/workspaces/listNotebookAccessToken/action");
constexpr Permission kNotebookKeys =
    allow("Microsoft.MachineLearningServices/workspaces/listNotebookKeys/action");
constexpr Permission kPrepareNotebook =
    allow("Microsoft.MachineLearningServices/workspaces/prepareNotebook/action");
constexpr Permission kOutbound =
    allow("Microsoft.MachineLearningServices/workspaces/outboundNetworkDependenciesEndpoints/read");
constexpr Permission kFeatures =
    allow("Microsoft.MachineLearningServices/workspaces/features/read");
constexpr Permission kPrivateLinks =
    allow("Microsoft.MachineLearningServices/workspaces/privateLinkResources/read");

constexpr Route kRoutes[] = {
    {"POST", "W/diagnose", kDiagnose, BodyKind::Json, diagnose},
    {"POST", "W/listKeys", kListKeys, BodyKind::Json, refuse_keys},
    {"POST", "W/resyncKeys", kResyncKeys, BodyKind::Json, resync_keys},
    {"POST", "W/listStorageAccountKeys", kStorageKeys, BodyKind::Json, refuse_keys},
    {"POST", "W/listNotebookAccessToken", kNotebookToken, BodyKind::Json, refuse_notebooks},
    {"POST", "W/listNotebookKeys", kNotebookKeys, BodyKind::Json, refuse_notebooks},
    {"POST", "W/prepareNotebook", kPrepareNotebook, BodyKind::Json, refuse_notebooks},
    // Berth asks nothing of the network outside, has no previews to switch on, and no private
    // links.
    {"GET", "W/outboundNetworkDependenciesEndpoints", kOutbound, BodyKind::None, empty_page},
    {"GET", "W/features", kFeatures, BodyKind::None, empty_page},
    {"GET", "W/privateLinkResources", kPrivateLinks, BodyKind::None, empty_page},
};

}  // namespace

std::span<const Route> workspace_service_routes() { return kRoutes; }

}  // namespace berth::server
