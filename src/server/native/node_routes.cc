// SPDX-License-Identifier: Apache-2.0
#include "server/door/route.h"

namespace berth::server {
namespace {

// No handler: the application upgrades the connection and gives it to the NodeHub.
constexpr Route kRoutes[] = {
    {"GET",
     "/berth/v1/nodes/{node}/channel",
     {Permission::Kind::Node, ""},
     BodyKind::None,
     nullptr},
};

}  // namespace

std::span<const Route> node_routes() { return kRoutes; }

}  // namespace berth::server
