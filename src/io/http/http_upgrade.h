// SPDX-License-Identifier: Apache-2.0
// Heavy: include from .cc files only.
#pragma once

#include <memory>

#include "io/http/client_end.h"
#include "io/http/http_session.h"

namespace berth::io {

// Both hand the client's stream to somebody else; after that the session has nobody to part from.
// False: the client asks for something else, and nothing was sent.

Awaitable<bool> upgrade(std::shared_ptr<SessionContext> context, ClientEnd& client,
                        const RequestHead& head, const Upgrade& wanted);

Awaitable<bool> park(std::shared_ptr<SessionContext> context, ClientEnd& client,
                     const RequestHead& head, const Park& wanted);

}  // namespace berth::io
