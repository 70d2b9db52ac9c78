// SPDX-License-Identifier: Apache-2.0
// What nodes dial: the channel of each, and connections to the services on it.
#include <charconv>

#include "server/door/route.h"
#include "server/fleet/node_hub.h"
#include "server/fleet/service_gate.h"

namespace berth::server {
namespace {

Result<model::NodeId> own_node(const Call& call) {
  const model::NodeId node{call.parameter("node")};
  if (node == call.principal.node) return node;
  return fail(Code::Forbidden, "this is another node's channel");
}

Result<io::Admission> open_channel(Call& call) {
  const model::NodeId node = TRY(own_node(call));
  NodeHub& nodes = *call.services.nodes;
  return io::Upgrade{[&nodes, node](std::shared_ptr<io::WebSocket> channel) {
    nodes.accept(node, std::move(channel));
  }};
}

Result<int> attempt_number(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return fail(Code::InvalidArgument, fmt::format("'{}' is not the number of an attempt", text));
}

Result<io::Admission> park_connection(Call& call) {
  const model::NodeId node = TRY(own_node(call));
  const int number = TRY(attempt_number(call.parameter("attempt")));
  const model::AttemptRef attempt{.job = {{call.parameter("workspaceId")}, call.parameter("name")},
                                  .attempt = number,
                                  .fence = call.parameter("fence")};
  return io::Park{.into = TRY(call.services.gate->parking_of(node, attempt)),
                  .protocol = wire::node::kParkProtocol};
}

constexpr Permission kNode = {Permission::Kind::Node, ""};

constexpr Route kRoutes[] = {
    {"GET", "/berth/v1/nodes/{node}/channel", kNode, BodyKind::None, nullptr, open_channel},
    {"GET", "/berth/v1/nodes/{node}/services/{workspaceId}/{name}/{attempt}/{fence}", kNode,
     BodyKind::None, nullptr, park_connection},
};

}  // namespace

std::span<const Route> node_routes() { return kRoutes; }

}  // namespace berth::server
