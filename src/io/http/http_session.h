// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "io/http/connection.h"
#include "io/http/held_bytes.h"
#include "io/http/http_server.h"
#include "io/message/reply_text.h"
#include "io/stream.h"

namespace berth::io {

/// What all connections of one server share.
struct SessionContext {
  Offload& disk;
  HttpHandler& handler;
  HttpServerOptions options;
  std::shared_ptr<const ServerTls> tls;
  ConnectionTable connections;
  HeldBytes held;
  DateText date{};
  bool draining = false;
  bool closed = false;  ///< The server is gone, and perhaps its handler: do not call it.
};

/// Serves one connection until it ends. TLS is told from plain HTTP by the first byte.
Awaitable<void> serve_connection(std::shared_ptr<SessionContext> context, TcpSocket socket);

}  // namespace berth::io
