// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/result.h"
#include "io/http/http_client.h"
#include "io/http/loopback_socket.h"
#include "io/message/input_buffer.h"

namespace berth::io {

/// Requests to a server on this machine, without libcurl: plain HTTP/1.1 on a loopback address,
/// through one connection that is kept for the next request. No file is uploaded and no redirect
/// followed.
class LoopbackTransport {
 public:
  /// False: it is not of that kind, and libcurl is to send it.
  static bool can_send(const ClientRequest& request);

  /// One that can_send().
  Result<ClientResponse> send(const ClientRequest& request);

 private:
  struct Connection {
    LoopbackPlace place{};
    LoopbackSocket socket;
    InputBuffer input{};
  };
  class Exchange;

  std::optional<Connection> take_kept(const LoopbackPlace& place);

  std::optional<Connection> kept_{};
};

}  // namespace berth::io
