// SPDX-License-Identifier: Apache-2.0
#include "server/door/route.h"

#include "base/check.h"
#include "base/text.h"
#include "model/assets/reference.h"

namespace berth::server {
namespace {

constexpr std::string_view kWorkspacePath =
    "subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/"
    "Microsoft.MachineLearningServices/workspaces/{workspaceName}";

/// More than any route has: longer paths are not worth looking at, unless they end in a blob's
/// path.
constexpr std::size_t kMostSegments = 600;

/// The segments of a pattern, W written out.
std::vector<std::string_view> segments_of(std::string_view pattern) {
  std::vector<std::string_view> segments;
  if (pattern.starts_with('/')) pattern.remove_prefix(1);
  for (const std::string_view segment : split(pattern, '/')) {
    if (segment == "W") {
      for (const std::string_view part : split(kWorkspacePath, '/')) segments.push_back(part);
    } else {
      segments.push_back(segment);
    }
  }
  return segments;
}

bool is_parameter(std::string_view segment) { return segment.starts_with('{'); }
bool is_rest(std::string_view segment) { return segment.ends_with("...}"); }

std::string name_of(std::string_view segment) {
  return std::string(segment.substr(1, segment.size() - (is_rest(segment) ? 5 : 2)));
}

/// A route that ends at a place of the tree, with the names of the parameters on the way there.
struct Ending {
  std::size_t route = 0;
  std::vector<std::string> names{};
};

}  // namespace

/// A place between two slashes.
struct RouteTable::Node {
  std::vector<std::pair<std::string, std::unique_ptr<Node>>> literals;
  std::unique_ptr<Node> parameter;
  std::vector<Ending> endings;       ///< Routes that end here, one per method.
  std::vector<Ending> rest_endings;  ///< Routes that take all that follows.

  Node& child(std::string_view segment) {
    if (is_parameter(segment)) {
      if (!parameter) parameter = std::make_unique<Node>();
      return *parameter;
    }
    for (auto& [text, node] : literals) {
      if (equals_ignoring_case(text, segment)) return *node;
    }
    literals.emplace_back(std::string(segment), std::make_unique<Node>());
    return *literals.back().second;
  }

  /// The routes at the end of the segments from `at` on; `taken` gets the indices of those that
  /// parameters matched. Literals are tried before parameters.
  const std::vector<Ending>* find(const std::vector<std::string>& segments, std::size_t at,
                                  std::vector<std::size_t>& taken) const {
    if (at == segments.size()) return endings.empty() ? nullptr : &endings;
    for (const auto& [text, node] : literals) {
      if (!equals_ignoring_case(text, segments[at])) continue;
      if (const auto* found = node->find(segments, at + 1, taken)) return found;
    }
    taken.push_back(at);
    if (parameter) {
      if (const auto* found = parameter->find(segments, at + 1, taken)) return found;
    }
    if (!rest_endings.empty()) return &rest_endings;
    taken.pop_back();
    return nullptr;
  }
};

RouteTable::RouteTable(std::vector<Route> routes) : routes_(std::move(routes)) {
  auto root = std::make_shared<Node>();
  for (std::size_t index = 0; index < routes_.size(); ++index) {
    Ending ending{.route = index};
    Node* place = root.get();
    bool takes_rest = false;
    for (const std::string_view segment : segments_of(routes_[index].pattern)) {
      CHECK(!takes_rest, "nothing follows a {path...}");
      if (is_parameter(segment)) ending.names.push_back(name_of(segment));
      takes_rest = is_rest(segment);
      if (!takes_rest) place = &place->child(segment);
    }
    auto& endings = takes_rest ? place->rest_endings : place->endings;
    for (const Ending& other : endings) {
      CHECK(std::string_view(routes_[other.route].method) != routes_[index].method,
            "a method and path have one route");
    }
    endings.push_back(std::move(ending));
  }
  root_ = std::move(root);
}

namespace {

Result<std::vector<std::string>> decoded_segments(std::string_view encoded_path) {
  if (!encoded_path.starts_with('/')) {
    return fail(Code::InvalidArgument, "the path does not begin with '/'");
  }
  const auto parts = split(encoded_path.substr(1), '/');
  if (parts.size() > kMostSegments) return fail(Code::InvalidArgument, "the path is too long");
  std::vector<std::string> segments;
  segments.reserve(parts.size());
  for (const std::string_view part : parts) {
    if (part.find_first_of(std::string_view("%\0", 2)) == std::string_view::npos) {
      segments.emplace_back(part);
    } else {
      segments.push_back(TRY(percent_decode(part)));
    }
  }
  return segments;
}

Result<std::string> rest_from(const std::vector<std::string>& segments, std::size_t first) {
  std::string rest;
  for (std::size_t index = first; index < segments.size(); ++index) {
    if (index > first) rest += '/';
    rest += segments[index];
  }
  return model::checked_blob_path(rest);
}

/// From the slash before the segment on.
std::string rest_as_sent(std::string_view encoded_path, std::size_t segment) {
  std::size_t slash = 0;
  for (; segment > 0; --segment) slash = encoded_path.find('/', slash + 1);
  return std::string(encoded_path.substr(slash));
}

const Ending* ending_for(std::string_view method, const std::vector<Route>& routes,
                         const std::vector<Ending>& endings) {
  for (const std::string_view wanted : {method, std::string_view("*")}) {
    for (const Ending& each : endings) {
      if (wanted == routes[each.route].method) return &each;
    }
  }
  return nullptr;
}

tl::unexpected<Error> wrong_method(const std::vector<Route>& routes,
                                   const std::vector<Ending>& endings) {
  std::string methods;
  for (const Ending& ending : endings) {
    if (!methods.empty()) methods += ", ";
    methods += routes[ending.route].method;
  }
  return fail(Code::NotSupported, fmt::format("this address takes {} only", methods));
}

}  // namespace

Result<Match> RouteTable::find(std::string_view method, std::string_view encoded_path) const {
  const std::vector<std::string> segments = TRY(decoded_segments(encoded_path));
  std::vector<std::size_t> taken;
  const std::vector<Ending>* endings = root_->find(segments, 0, taken);
  if (endings == nullptr) return fail(Code::NotFound, "there is nothing at this address");
  const Ending* const ending = ending_for(method, routes_, *endings);
  if (ending == nullptr) return wrong_method(routes_, *endings);

  Match match{.route = &routes_[ending->route]};
  const bool has_rest = std::string_view(match.route->pattern).ends_with("...}");
  for (std::size_t index = 0; index < taken.size(); ++index) {
    const std::string& name = ending->names[index];
    const bool is_rest = has_rest && index + 1 == taken.size();
    if (is_rest && match.route->take_over != nullptr) {
      match.rest = rest_as_sent(encoded_path, taken[index]);
      continue;
    }
    if (is_rest) {
      match.parameters[name] = TRY(rest_from(segments, taken[index]));
      continue;
    }
    const std::string& value = segments[taken[index]];
    if (!is_resource_name(value)) {
      return fail(Code::InvalidArgument,
                  fmt::format("the {} in the address is not a name: 1 to 255 letters, digits, '-', "
                              "'_' and '.', beginning with a letter, a digit or '_'",
                              name),
                  name);
    }
    match.parameters[name] = value;
  }
  return match;
}

std::vector<Route> all_routes() {
  std::vector<Route> all;
  for (const auto routes : {workspace_routes(),
                            job_routes(),
                            compute_routes(),
                            location_routes(),
                            asset_routes(),
                            datastore_routes(),
                            blob_routes(),
                            history_routes(),
                            resolve_routes(),
                            discovery_routes(),
                            identity_routes(),
                            node_routes(),
                            service_routes(),
                            site_routes(),
                            usage_routes(),
                            berth_routes(),
                            storage_routes(),
                            access_routes(),
                            secret_routes(),
                            role_routes(),
                            audit_routes(),
                            workspace_service_routes(),
                            absent_routes(),
                            operation_list_routes(),
                            template_deployment_routes(),
                            resource_group_routes(),
                            mlflow_experiment_routes(),
                            mlflow_run_routes(),
                            mlflow_log_routes(),
                            mlflow_artifact_routes(),
                            mlflow_model_routes(),
                            registry_model_routes(),
                            registry_version_routes()}) {
    all.insert(all.end(), routes.begin(), routes.end());
  }
  return all;
}

}  // namespace berth::server
