// SPDX-License-Identifier: Apache-2.0
// Heavy: include from .cc files only.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "io/http/websocket.h"
#include "io/stream.h"

namespace berth::io {

/// The socket being dialled, for the timer that ends it.
struct Dialling {
  TcpSocket* socket = nullptr;
  bool is_late = false;

  void give_up();
};

using DialledStream = std::variant<TcpSocket, TlsSocket>;

/// Connected, and over TLS when the address says so: the certificate has been checked.
Awaitable<Result<DialledStream>> dial_stream(asio::io_context& context,
                                             const WebSocketAddress& address, Dialling& dialling);

/// As the Host header has it.
std::string authority_of(const WebSocketAddress& address);
tl::unexpected<Error> cannot_connect(const WebSocketAddress& address, std::string_view why);
/// It answered with another status than 101.
tl::unexpected<Error> refused_upgrade(const WebSocketAddress& address, int status);

}  // namespace berth::io
