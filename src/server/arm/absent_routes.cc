// SPDX-License-Identifier: Apache-2.0
// Azure ML's collections that Berth does not have yet. There is nothing in them, and that is what
// clients are told: lists are empty, what is asked for by name is not found, and what cannot be
// made is refused by name (decision 26).
#include <array>
#include <deque>
#include <utility>

#include "server/door/paging.h"
#include "server/door/route.h"
#include "wire/arm/resource.h"

namespace berth::server {
namespace {

/// One collection. Its members are at "<path>/{name}".
struct Absent {
  const char* path;
  const char* action;                  ///< What its permissions begin with.
  const char* kind;                    ///< "online endpoint".
  const char* owner = "";              ///< The kind that {owner} is, where the path has one.
  std::array<const char*, 3> posts{};  ///< What may be asked of a member: words behind its name.
  const char* list_below = nullptr;    ///< A list below a member.
};

constexpr const char* kRegistries =
    "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/"
    "Microsoft.MachineLearningServices/registries";

constexpr std::array kAbsent = {
    Absent{"W/onlineEndpoints",
           "workspaces/onlineEndpoints",
           "online endpoint",
           "",
           {"listKeys", "regenerateKeys", "token"}},
    Absent{"W/onlineEndpoints/{owner}/deployments",
           "workspaces/onlineEndpoints/deployments",
           "online deployment",
           "online endpoint",
           {"getLogs"},
           "skus"},
    Absent{"W/batchEndpoints", "workspaces/batchEndpoints", "batch endpoint", "", {"listKeys"}},
    Absent{"W/batchEndpoints/{owner}/deployments", "workspaces/batchEndpoints/deployments",
           "batch deployment", "batch endpoint"},
    Absent{"W/serverlessEndpoints", "workspaces/serverlessEndpoints", "serverless endpoint"},
    Absent{"W/marketplaceSubscriptions", "workspaces/marketplaceSubscriptions",
           "marketplace subscription"},
    Absent{"W/schedules", "workspaces/schedules", "schedule"},
    Absent{"W/connections", "workspaces/connections", "workspace connection", "", {"listSecrets"}},
    Absent{"W/privateEndpointConnections", "workspaces/privateEndpointConnections",
           "private endpoint connection"},
    Absent{"W/outboundRules", "workspaces/outboundRules", "outbound rule"},
    Absent{"W/featuresets", "workspaces/featuresets", "feature set"},
    Absent{"W/featuresets/{owner}/versions", "workspaces/featuresets/versions",
           "feature set version", "feature set"},
    Absent{"W/featurestoreEntities", "workspaces/featurestoreEntities", "feature store entity"},
    Absent{"W/featurestoreEntities/{owner}/versions", "workspaces/featurestoreEntities/versions",
           "feature store entity version", "feature store entity"},
    Absent{"W/labelingJobs", "workspaces/labelingJobs", "labeling job"},
    Absent{kRegistries, "registries", "registry"},
};

tl::unexpected<Error> no(const char* kind, const std::string& name) {
  return fail(Code::NotFound, fmt::format("no {} '{}'", kind, name));
}

/// What is below something that is not there is not there either.
Status check_owner(const Call& call, const Absent& absent) {
  if (*absent.owner == '\0') return Done{};
  return no(absent.owner, call.parameter("owner"));
}

template <std::size_t index>
Result<io::Reply> list(Call& call) {
  TRY(check_owner(call, kAbsent[index]));
  TRY(continuation(call));
  return json_reply(200, wire::arm::page({}));
}

template <std::size_t index>
Result<io::Reply> not_found(Call& call) {
  TRY(check_owner(call, kAbsent[index]));
  return no(kAbsent[index].kind, call.parameter("name"));
}

template <std::size_t index>
Result<io::Reply> refuse(Call& call) {
  return fail(Code::NotSupported,
              fmt::format("'{}' was not made: Berth has no resources of the kind '{}' yet",
                          call.parameter("name"), kAbsent[index].kind));
}

Result<io::Reply> nothing_to_delete(Call&) { return io::Reply{.status = 204}; }

/// Their texts are put together once, at start-up, and kept.
class AbsentRouteList {
 public:
  AbsentRouteList() { add(std::make_index_sequence<kAbsent.size()>()); }

  std::span<const Route> routes() const { return routes_; }

 private:
  template <std::size_t... indices>
  void add(std::index_sequence<indices...>) {
    (add<indices>(), ...);
  }

  template <std::size_t index>
  void add() {
    const Absent& absent = kAbsent[index];
    const std::string one = fmt::format("{}/{{name}}", absent.path);
    const auto add = [&](const char* method, std::string path, const std::string& verb,
                         Result<io::Reply> (*handle)(Call&)) {
      const bool has_body = std::string_view(method).starts_with('P');
      routes_.push_back({method, keep(std::move(path)), may(absent, verb),
                         has_body ? BodyKind::Json : BodyKind::None, handle});
    };
    add("GET", absent.path, "read", list<index>);
    add("GET", one, "read", not_found<index>);
    add("PUT", one, "write", refuse<index>);
    add("PATCH", one, "write", not_found<index>);
    add("DELETE", one, "delete", nothing_to_delete);
    for (const char* word : absent.posts) {
      if (word == nullptr) break;
      add("POST", fmt::format("{}/{}", one, word), fmt::format("{}/action", word),
          not_found<index>);
    }
    if (absent.list_below != nullptr) {
      add("GET", fmt::format("{}/{}", one, absent.list_below),
          fmt::format("{}/read", absent.list_below), not_found<index>);
    }
  }

  const char* keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }

  Permission may(const Absent& absent, const std::string& verb) {
    return {Permission::Kind::Action,
            keep(fmt::format("Microsoft.MachineLearningServices/{}/{}", absent.action, verb))};
  }

  std::deque<std::string> texts_;  ///< Never moves what it holds.
  std::vector<Route> routes_;
};

}  // namespace

std::span<const Route> absent_routes() {
  static const AbsentRouteList list;
  return list.routes();
}

}  // namespace berth::server
