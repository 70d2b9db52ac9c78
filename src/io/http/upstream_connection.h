// SPDX-License-Identifier: Apache-2.0
// Heavy: include from .cc files only.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "io/http/connection.h"
#include "io/http/upstream.h"
#include "io/message/input_buffer.h"
#include "io/stream.h"
#include "io/wake.h"

namespace berth::io {

/// A connection to an upstream, waiting or in use. Whoever has it keeps the Upstream alive.
class UpstreamConnection final : public Connection {
 public:
  using Stream = std::variant<PlainSocket, TlsSocket>;

  UpstreamConnection(ConnectionTable& table, Stream stream)
      : Connection(table), stream_(std::move(stream)) {}

  StreamView view() {
    if (auto* plain = std::get_if<PlainSocket>(&stream_)) return StreamView(*plain);
    return StreamView(std::get<TlsSocket>(stream_));
  }
  PlainSocket& socket() { return std::get<PlainSocket>(stream_); }
  InputBuffer& input() { return input_; }
  bool has_expired() const { return has_expired_; }
  bool was_used() const { return was_used_; }
  void set_used() { was_used_ = true; }

  /// Kept as long as the connection: what its stream needs, its place in a server's table.
  void attach(std::shared_ptr<void> companion) { companion_ = std::move(companion); }
  /// What becomes of it when its time is over while it waits; may be its end.
  void when_idle_expires(std::function<void()> act) { idle_expired_ = std::move(act); }

  /// The peer has closed it, or has sent what nobody asked for.
  bool is_stale();

  /// Not to be used for another request. May be its end.
  void retire() {
    is_retired_ = true;
    if (!idle_expired_) return;
    cut();
    expire();
  }
  bool is_retired() const { return is_retired_; }

  void expire() override {
    if (const auto act = idle_expired_) return act();
    has_expired_ = true;
    cut();
  }
  void finish_soon() override {}
  void cut() override { view().close(); }

 private:
  std::shared_ptr<void> companion_{};  // First: what the stream needs goes after it.
  Stream stream_;
  InputBuffer input_{};
  std::function<void()> idle_expired_{};
  bool was_used_ = false;
  bool has_expired_ = false;
  bool is_retired_ = false;
};

/// The pool behind an Upstream.
struct Upstream::State : std::enable_shared_from_this<Upstream::State> {
  using Endpoint = asio::generic::stream_protocol::endpoint;
  using Taken = std::unique_ptr<UpstreamConnection>;

  State(Loop& on, std::optional<Endpoint> where, UpstreamOptions settings);

  /// One that waits and seems alive; null: there is none.
  Taken take_idle();
  /// One that is not connected yet.
  Taken make();
  Awaitable<boost::system::error_code> connect(UpstreamConnection& connection) const;
  bool is_parked() const { return !endpoint.has_value(); }

  /// Somebody who waits for a parked connection, for as long as this object lives.
  struct Waiter {
    Wake wake{};
    Taken got{};
  };
  void await_parked(const std::shared_ptr<Waiter>& waiter) { waiters.push_back(waiter); }

  /// Takes it in, for the next request.
  void give_back(Taken connection);
  /// Null: nothing is taken in any more.
  UpstreamConnection* park(UpstreamConnection::Stream stream, std::shared_ptr<void> companion);
  void close();
  void abandon();
  bool is_closed() const { return is_closed_; }

  Loop& loop;
  const std::optional<Endpoint> endpoint;  ///< None: connections are parked, not dialled.
  const UpstreamOptions options;

 private:
  void idle_expired(UpstreamConnection* connection);
  void tick_soon();

  ConnectionTable connections_;
  std::vector<Taken> idle_{};  ///< The last one in is the first one out.
  std::deque<std::weak_ptr<Waiter>> waiters{};
  bool is_ticking_ = false;
  bool is_closed_ = false;

  friend class Upstream;
};

}  // namespace berth::io
