// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/loop.h"
#include "io/tls.h"

namespace berth::io {

/// One WebSocket, either side. All calls and callbacks on the loop's thread. Messages arrive whole
/// and in order; send() queues. Pings keep it alive; a peer that is silent for 30 s is closed.
class WebSocket {
 public:
  struct Callbacks {
    std::function<void(std::string message, bool binary)> on_message;
    std::function<void(std::string reason)> on_close;  ///< Once, also after a failed send.
  };
  virtual ~WebSocket() = default;
  virtual void start(Callbacks callbacks) = 0;
  /// Text must be valid UTF-8: a peer closes on text that is not. Binary may be anything.
  virtual void send(std::string message, bool binary = false) = 0;
  virtual std::size_t queued_bytes() const = 0;  ///< Not yet handed to the kernel: back-pressure.
  virtual void close() = 0;                      ///< Sends what is queued first; on_close follows.
};

struct WebSocketAddress {
  std::string host{};
  std::uint16_t port = 0;
  std::string path{};
  std::string bearer_token{};
  std::shared_ptr<const ClientTls> tls{};  ///< Null: plain.
};

/// Dials. The callback gets an open socket (call start() on it) or the reason there is none.
void connect_websocket(Loop& loop, const WebSocketAddress& address,
                       std::function<void(Result<std::shared_ptr<WebSocket>>)> done);

}  // namespace berth::io
