// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "io/http/websocket.h"
#include "io/loop.h"
#include "node/agent.h"
#include "node/outbox.h"

namespace berth::node {

/// The node's connection to its server: dials until there is one, again whenever it is lost, and
/// reads where the server is before every try, since a restarted one may be elsewhere.
class Channel final : public Outbox {
 public:
  struct Callbacks {
    std::function<void()> on_open;
    std::function<void(const wire::node::ToNode&)> on_message;
    std::function<void()> on_close;
  };

  Channel(io::Loop& loop, const Clock& clock, const AgentOptions& options, Callbacks callbacks);

  void start();

  bool is_open() const override { return socket_ != nullptr; }
  void send(const wire::node::ToServer& message) override;
  std::size_t queued_bytes() const override;
  void redial() override;

  /// Where the server is now, and the node's channel at it.
  Result<io::WebSocketAddress> find_server() const;

 private:
  void dial();
  void dial_later(std::string_view why);
  void opened(std::shared_ptr<io::WebSocket> socket);
  void received(const std::string& data, bool binary);
  void closed(const io::WebSocket* socket, std::string_view reason);

  io::Loop& loop_;
  const Clock& clock_;
  const AgentOptions& options_;
  Callbacks callbacks_;
  std::shared_ptr<io::WebSocket> socket_{};
  TimePoint opened_at_{};
  int failures_ = 0;  ///< Connections in a row that were refused or did not last.
  std::string last_trouble_{};
};

}  // namespace berth::node
