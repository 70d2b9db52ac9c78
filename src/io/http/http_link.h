// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "io/http/connection.h"
#include "io/stream.h"

namespace berth::io {

/// A session's socket as the connection table sees it.
class HttpLink final : public Connection {
 public:
  HttpLink(ConnectionTable& table, TcpSocket& socket, std::string address)
      : Connection(table, std::move(address)), socket_(&socket) {}

  /// The socket was moved: into a TLS stream, for example. Null: it is somebody else's now.
  void follow(TcpSocket* socket) { socket_ = socket; }
  /// Idle: nothing was begun that a draining server would have to answer.
  void set_idle(bool idle) { idle_ = idle; }
  bool has_expired() const { return expired_; }
  bool is_cut() const { return cut_; }
  /// What else cut() has to undo, for a session that waits for something other than its socket.
  void when_cut(std::function<void()> undo) { undo_ = std::move(undo); }
  /// What a draining server asks of a session that may go on for ever. Called once.
  void when_draining(std::function<void()> finish) { finish_ = std::move(finish); }

  /// The first time it only ends the pending operation, so that the session can say why it closes.
  void expire() override {
    if (std::exchange(expired_, true)) return close();
    boost::system::error_code ignored;
    if (socket_ != nullptr) socket_->cancel(ignored);
  }
  bool is_idle() const override { return idle_; }
  void finish_soon() override {
    if (idle_) return cut();
    if (const auto finish = std::exchange(finish_, nullptr)) finish();
  }
  void cut() override {
    cut_ = true;
    close();
    // Undoing may be the end of this object, and with it of the function.
    if (const auto undo = std::exchange(undo_, nullptr)) undo();
  }

 private:
  void close() {
    boost::system::error_code ignored;
    if (socket_ != nullptr) socket_->close(ignored);
  }

  TcpSocket* socket_;
  std::function<void()> undo_{};
  std::function<void()> finish_{};
  bool idle_ = true;
  bool expired_ = false;
  bool cut_ = false;
};

}  // namespace berth::io
