// SPDX-License-Identifier: Apache-2.0
// /berth/v1: sites, and the nodes that come from them.
#include "base/text.h"
#include "server/door/paging.h"
#include "server/door/route.h"
#include "server/fleet/compute_view.h"
#include "server/plane/computes_desk.h"
#include "server/plane/ledger.h"
#include "wire/arm/resource.h"
#include "wire/site.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;
using model::Site;

Result<const Site*> existing(const Call& call) {
  const std::string& name = call.parameter("site");
  for (const auto& [key, site] : call.services.ledger.state().sites) {
    if (equals_ignoring_case(key, name)) return &site;
  }
  return fail(Code::NotFound, fmt::format("no site '{}'", name));
}

Result<io::Reply> list_sites(Call& call) {
  json::array sites;
  for (const auto& [name, site] : call.services.ledger.state().sites) {
    sites.push_back(wire::to_json(site));
  }
  return json_reply(200, arm::page(std::move(sites)));
}

Result<io::Reply> get_site(Call& call) {
  return json_reply(200, wire::to_json(*TRY(existing(call))));
}

Result<io::Reply> put_site(Call& call) {
  Site site = TRY(wire::site_from_json(TRY(json_body(call))));
  site.name = call.parameter("site");
  const bool is_new = !existing(call).has_value();
  const Site stored = TRY(call.services.computes.put_site(std::move(site)));
  return json_reply(is_new ? 201 : 200, wire::to_json(stored));
}

Result<io::Reply> remove_site(Call& call) {
  const Status removed = call.services.computes.remove_site(call.parameter("site"));
  if (!removed && removed.error().code != Code::NotFound) return fail(removed.error());
  return io::Reply{.status = 204};
}

constexpr const char* kSeeNodes = "Berth/nodes/read";
constexpr const char* kTakeNodes = "Berth/nodes/preempt/action";

/// Nodes belong to the workspace of their compute, this machine's own to nobody's.
bool may(const Call& call, const char* action, const model::Node& node) {
  return call.may(action, node.target.compute.workspace);
}

Result<io::Reply> list_nodes(Call& call) {
  const core::State& state = call.services.ledger.state();
  const std::size_t skip = static_cast<std::size_t>(TRY(continuation(call)));
  json::array nodes;
  std::string next;
  std::size_t index = 0;
  for (const auto& [id, node] : state.nodes) {
    if (!may(call, kSeeNodes, node) || index++ < skip) continue;
    if (nodes.size() == kLargestPage) {
      next = next_link(call, static_cast<std::int64_t>(skip + kLargestPage));
      break;
    }
    nodes.push_back(node_json(state, node));
  }
  return json_reply(200, arm::page(std::move(nodes), next));
}

Result<io::Reply> preempt(Call& call) {
  const model::NodeId node{call.parameter("node")};
  const auto found = call.services.ledger.state().nodes.find(node);
  if (found != call.services.ledger.state().nodes.end() && !may(call, kTakeNodes, found->second)) {
    return fail(Code::NotFound, fmt::format("no node '{}'", node.text));
  }
  TRY(call.services.computes.preempt_node(node));
  return json_reply(200, json::object{{"name", call.parameter("node")}});
}

constexpr Permission allow(const char* action) { return {Permission::Kind::Action, action}; }

constexpr Permission kRead = {Permission::Kind::Action, "Berth/sites/read",
                              Permission::Scope::Somewhere};
constexpr Permission kWrite = allow("Berth/sites/write");
constexpr Permission kDelete = allow("Berth/sites/delete");
constexpr Permission kReadNodes = {Permission::Kind::Action, kSeeNodes,
                                   Permission::Scope::Somewhere};
constexpr Permission kPreempt = {Permission::Kind::Action, kTakeNodes,
                                 Permission::Scope::Somewhere};

constexpr Route kRoutes[] = {
    {"GET", "/berth/v1/sites", kRead, BodyKind::None, list_sites},
    {"GET", "/berth/v1/sites/{site}", kRead, BodyKind::None, get_site},
    {"PUT", "/berth/v1/sites/{site}", kWrite, BodyKind::Json, put_site},
    {"DELETE", "/berth/v1/sites/{site}", kDelete, BodyKind::None, remove_site},
    {"GET", "/berth/v1/nodes", kReadNodes, BodyKind::None, list_nodes},
    {"POST", "/berth/v1/nodes/{node}/preempt", kPreempt, BodyKind::Json, preempt},
};

}  // namespace

std::span<const Route> site_routes() { return kRoutes; }

}  // namespace berth::server
