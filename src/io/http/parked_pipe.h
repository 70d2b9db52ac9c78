// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "io/http/websocket.h"
#include "io/loop.h"

namespace berth::io {

/// A connection that is dialled to a server and parked there (Park in io/http/http_server.h). When
/// the server uses it, its bytes go to a port of this machine, and the answer's back, as they are.
/// Loop thread only; the loop outlives it.
class ParkedPipe {
 public:
  struct Events {
    std::function<void()> on_parked{};  ///< The server has it.
    std::function<void()> on_used{};    ///< The server uses it: it is no spare one any more.
    /// The last event, not called after cut(). An error: it was never parked.
    std::function<void(const Status&)> on_closed{};
  };

  /// The address's path says what is parked where, and `protocol` is what both call it.
  static std::shared_ptr<ParkedPipe> open(Loop& loop, WebSocketAddress address,
                                          std::string protocol, std::uint16_t port, Events events);
  ~ParkedPipe();  ///< As cut().
  ParkedPipe(const ParkedPipe&) = delete;
  ParkedPipe& operator=(const ParkedPipe&) = delete;

  void cut();

  struct State;
  explicit ParkedPipe(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace berth::io
