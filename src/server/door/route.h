// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/http/http_server.h"
#include "server/door/call.h"
#include "server/keys/principal.h"

namespace berth::server {

enum class BodyKind { None, Json, Spooled };

/// One line of the table. There is no other way in.
///
/// Patterns are matched segment by segment, ignoring case. "{name}" takes one segment, checked as a
/// resource name; a last "{path...}" takes the rest, checked as a blob path. A segment "W" stands
/// for a workspace's whole path ({subscriptionId}, {resourceGroupName}, {workspaceName}); such a
/// route is below a workspace, which is looked up (404 when missing) before the handler runs; only
/// the handlers of "W" itself are called without one.
struct Route {
  const char* method;  ///< "*": every method that has no route of its own.
  const char* pattern;
  Permission permission;
  BodyKind body;
  Result<io::Reply> (*handle)(Call& call);
  /// Instead of a handler, which is null then: what becomes of the connection, by the head alone.
  /// An Upgrade, a Park or a Relay; whose it is and how long it is allowed is the application's to
  /// say. A last "{path...}" of such a route is not looked at: see Call::rest.
  Result<io::Admission> (*take_over)(Call& call) = nullptr;
};

/// Every route of the server.
std::vector<Route> all_routes();

// One function per file of routes:
std::span<const Route> workspace_routes();
std::span<const Route> workspace_service_routes();    ///< Diagnosis, keys, networks.
std::span<const Route> template_deployment_routes();  ///< Microsoft.Resources/deployments.
std::span<const Route> resource_group_routes();       ///< Microsoft.Resources/resourceGroups.
std::span<const Route> job_routes();
std::span<const Route> asset_routes();
std::span<const Route> compute_routes();
std::span<const Route> location_routes();  ///< Sizes, usages and quotas.
std::span<const Route> datastore_routes();
std::span<const Route> absent_routes();          ///< Collections that Berth does not have yet.
std::span<const Route> operation_list_routes();  ///< What roles may name.
std::span<const Route> blob_routes();
std::span<const Route> history_routes();  ///< Run history, as the Python SDK streams and downloads.
std::span<const Route> resolve_routes();  ///< Where the bytes of assets and outputs lie.
std::span<const Route> discovery_routes();  ///< Health, cloud metadata, discovery.
std::span<const Route> identity_routes();   ///< Tokens for Azure's credential classes.
std::span<const Route> node_routes();       ///< What nodes dial: their channel, and what they park.
std::span<const Route> service_routes();    ///< /berth/v1: services, and the way to each.
std::span<const Route> secret_routes();     ///< /berth/v1: secrets of a workspace.
std::span<const Route> usage_routes();      ///< /berth/v1: what was used of clusters.
std::span<const Route> site_routes();       ///< /berth/v1: sites and nodes.
std::span<const Route> access_routes();     ///< /berth/v1: users and tokens.
std::span<const Route> role_routes();       ///< Role definitions and assignments.
std::span<const Route> audit_routes();      ///< /berth/v1: who changed what.
std::span<const Route> mlflow_experiment_routes();
std::span<const Route> mlflow_run_routes();
std::span<const Route> mlflow_log_routes();        ///< What is logged to runs.
std::span<const Route> mlflow_artifact_routes();   ///< Through the server.
std::span<const Route> mlflow_model_routes();      ///< Logged models, of MLflow 3.
std::span<const Route> registry_model_routes();    ///< MLflow's registry: models as a whole.
std::span<const Route> registry_version_routes();  ///< MLflow's registry: their versions.
std::span<const Route> storage_routes();           ///< /berth/v1: what is kept, and for how long.
std::span<const Route> berth_routes();             ///< /berth/v1: status, logs, explain.

struct Match {
  const Route* route = nullptr;
  std::map<std::string, std::string, std::less<>> parameters{};
  std::string rest{};  ///< As Call::rest.
};

/// Finds the route of a request. NotFound: no such path; InvalidArgument: a parameter that is not a
/// name, or a broken escape; NotSupported: the path exists, with other methods. Every segment is
/// percent-decoded exactly once.
class RouteTable {
 public:
  explicit RouteTable(std::vector<Route> routes);
  Result<Match> find(std::string_view method, std::string_view encoded_path) const;
  const std::vector<Route>& routes() const { return routes_; }

 private:
  struct Node;
  std::vector<Route> routes_;
  std::shared_ptr<const Node> root_;
};

}  // namespace berth::server
