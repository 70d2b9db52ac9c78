// SPDX-License-Identifier: Apache-2.0
// The WebSocket over any stream, for both sides. Heavy: include from .cc files only.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "base/caught.h"
#include "io/http/websocket.h"
#include "io/stream.h"

namespace berth::io {

/// While messages are read the reading coroutine keeps the object alive; without start() its owners
/// do. Callbacks are dropped once closed, so that they may hold the socket.
template <typename Stream>
class StreamWebSocket final : public WebSocket,
                              public std::enable_shared_from_this<StreamWebSocket<Stream>> {
 public:
  using Channel = boost::beast::websocket::stream<Stream>;

  explicit StreamWebSocket(Stream stream) : channel_(std::move(stream)) {
    namespace websocket = boost::beast::websocket;
    channel_.set_option(websocket::stream_base::timeout{
        .handshake_timeout = std::chrono::seconds(15),
        .idle_timeout = std::chrono::seconds(30),
        .keep_alive_pings = true,
    });
    channel_.read_message_max(16u << 20);
    channel_.auto_fragment(false);
    channel_.write_buffer_bytes(64u << 10);
  }

  Channel& channel() { return channel_; }
  /// Kept until the socket is closed.
  void attach(std::shared_ptr<void> companion) { companion_ = std::move(companion); }

  void start(Callbacks callbacks) override {
    callbacks_ = std::move(callbacks);
    spawn(read_all(this->shared_from_this()));
  }

  void send(std::string message, bool binary) override {
    if (closing_ || finished_) return;
    queued_bytes_ += message.size();
    queue_.push_back({std::move(message), binary});
    start_writing();
  }

  std::size_t queued_bytes() const override { return queued_bytes_; }

  void close() override {
    if (std::exchange(closing_, true) || finished_) return;
    start_writing();
  }

  /// Without a closing handshake.
  void cut() {
    boost::system::error_code ignored;
    lowest_layer(channel_.next_layer()).close(ignored);
  }

 private:
  using Self = std::shared_ptr<StreamWebSocket>;
  struct Message {
    std::string text{};
    bool binary = false;
  };

  void spawn(Awaitable<void> work) {
    asio::co_spawn(lowest_layer(channel_.next_layer()).get_executor(), std::move(work),
                   asio::detached);
  }

  void start_writing() {
    if (std::exchange(writing_, true)) return;
    spawn(write_all(this->shared_from_this()));
  }

  /// Callbacks often hold the socket that holds them: let go of them also when the loop ends and
  /// the reading coroutine is destroyed where it waits.
  struct Reading {
    explicit Reading(Self of) : self(std::move(of)) {}
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() { const Callbacks dropped = self->let_go(); }
    Self self;
  };

  Callbacks let_go() {
    companion_.reset();
    return std::exchange(callbacks_, {});
  }

  static Awaitable<void> read_all(Self self) {
    const Reading reading(self);
    for (;;) {
      boost::beast::flat_buffer buffer;
      auto [error, size] = co_await self->channel_.async_read(buffer, kAwait);
      if (error) {
        self->finish(self->reason_for(error));
        co_return;
      }
      std::string message(static_cast<const char*>(buffer.data().data()), size);
      if (!self->callbacks_.on_message) continue;
      const Status taken = caught("a message of a WebSocket", [&] {
        self->callbacks_.on_message(std::move(message), self->channel_.got_binary());
      });
      if (!taken) {
        self->finish(taken.error().message);
        co_return;
      }
    }
  }

  static Awaitable<void> write_all(Self self) {
    while (!self->queue_.empty()) {
      // Held here, because closing empties the queue while this one is still being written.
      const Message next = std::move(self->queue_.front());
      self->queue_.pop_front();
      self->channel_.binary(next.binary);
      auto [error, size] = co_await self->channel_.async_write(asio::buffer(next.text), kAwait);
      self->queued_bytes_ -= std::min(self->queued_bytes_, next.text.size());
      if (error) {
        self->give_up(error.message());
        co_return;
      }
    }
    self->writing_ = false;
    if (!self->closing_) co_return;
    self->writing_ = true;  // Nothing may be written after the closing frame.
    namespace websocket = boost::beast::websocket;
    auto [error] = co_await self->channel_.async_close(websocket::close_code::normal, kAwait);
    if (error) self->cut();
  }

  /// Ends the reading coroutine, which reports it.
  void give_up(std::string reason) {
    write_failure_ = std::move(reason);
    queue_.clear();
    queued_bytes_ = 0;
    cut();
  }

  std::string reason_for(boost::system::error_code error) const {
    if (!write_failure_.empty()) return write_failure_;
    if (closing_) return "closed";
    if (error != boost::beast::websocket::error::closed) return error.message();
    const auto& why = channel_.reason().reason;
    return why.empty() ? "closed" : std::string(why.data(), why.size());
  }

  void finish(std::string reason) {
    if (std::exchange(finished_, true)) return;
    cut();
    queue_.clear();
    queued_bytes_ = 0;
    const Callbacks callbacks = let_go();
    if (callbacks.on_close) callbacks.on_close(std::move(reason));
  }

  Channel channel_;
  Callbacks callbacks_{};
  std::deque<Message> queue_{};
  std::size_t queued_bytes_ = 0;
  std::string write_failure_{};
  std::shared_ptr<void> companion_{};
  bool writing_ = false;
  bool closing_ = false;
  bool finished_ = false;
};

}  // namespace berth::io
