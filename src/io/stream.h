// SPDX-License-Identifier: Apache-2.0
// The Asio types that the coroutines of this folder share. Heavy: include from .cc files only.
//
// The executor is the io_context's own, never any_io_executor: the type-erased one costs a third of
// the throughput.
#pragma once

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <span>
#include <string_view>
#include <tuple>

namespace berth::io {

namespace asio = boost::asio;

using Executor = asio::io_context::executor_type;
using TcpSocket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using TlsSocket = asio::ssl::stream<TcpSocket>;
/// TCP or a Unix socket.
using PlainSocket = asio::basic_stream_socket<asio::generic::stream_protocol, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

template <typename T>
using Awaitable = asio::awaitable<T, Executor>;

/// `auto [error, size] = co_await socket.async_read_some(buffer, kAwait);`
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable_t<Executor>{});

inline TcpSocket& lowest_layer(TcpSocket& socket) { return socket; }
inline TcpSocket& lowest_layer(TlsSocket& stream) { return stream.next_layer(); }

/// A connected stream of any kind, which somebody else owns. Reading and writing return what the
/// stream's own function returns, so that not knowing the kind costs a branch and no coroutine.
class StreamView {
  template <typename Act>
  auto visit(const Act& act) const {
    if (tcp_ != nullptr) return act(*tcp_);
    if (tls_ != nullptr) return act(*tls_);
    return act(*plain_);
  }
  template <typename Act>
  auto visit_socket(const Act& act) const {
    if (tcp_ != nullptr) return act(*tcp_);
    if (tls_ != nullptr) return act(tls_->next_layer());
    return act(*plain_);
  }

 public:
  using Moved = Awaitable<std::tuple<boost::system::error_code, std::size_t>>;

  explicit StreamView(TcpSocket& socket) : tcp_(&socket) {}
  explicit StreamView(TlsSocket& stream) : tls_(&stream) {}
  explicit StreamView(PlainSocket& socket) : plain_(&socket) {}

  /// Null: it is of another kind.
  TcpSocket* tcp() const { return tcp_; }
  TlsSocket* tls() const { return tls_; }

  Moved read_some(std::span<char> space) const {
    return visit([buffer = asio::buffer(space.data(), space.size())](auto& stream) {
      return stream.async_read_some(buffer, kAwait);
    });
  }
  /// One after the other, in one call of the system where the stream can do that.
  Moved write_some(std::string_view first, std::string_view second) const {
    const std::array<asio::const_buffer, 2> both{asio::buffer(first), asio::buffer(second)};
    return visit([&both](auto& stream) { return stream.async_write_some(both, kAwait); });
  }

  Executor executor() const {
    return visit_socket([](auto& socket) { return socket.get_executor(); });
  }
  int descriptor() const {
    return visit_socket([](auto& socket) { return socket.native_handle(); });
  }
  /// Ends what is pending; the stream can be used afterwards.
  void cancel() const {
    boost::system::error_code ignored;
    visit_socket([&](auto& socket) { socket.cancel(ignored); });
  }
  /// The peer sees the end of what we send.
  void shutdown_send() const {
    boost::system::error_code ignored;
    visit_socket([&](auto& socket) { socket.shutdown(asio::socket_base::shutdown_send, ignored); });
  }
  void close() const {
    boost::system::error_code ignored;
    visit_socket([&](auto& socket) { socket.close(ignored); });
  }

 private:
  TcpSocket* tcp_ = nullptr;
  TlsSocket* tls_ = nullptr;
  PlainSocket* plain_ = nullptr;
};

}  // namespace berth::io
