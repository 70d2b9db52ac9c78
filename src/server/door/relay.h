// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "io/http/relay.h"
#include "server/door/call.h"

namespace berth::server {

/// The request of a route that ends in "{path...}", as somebody else is to get it: what that stands
/// for becomes the path. Neither side is told what the other must not know: the upstream gets none
/// of what the caller has shown to this server, and sets nothing that a browser would take for the
/// rule of the whole server.
io::RelayPlan relay_to(std::shared_ptr<io::Upstream> upstream, const Call& call);

}  // namespace berth::server
