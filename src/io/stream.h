// SPDX-License-Identifier: Apache-2.0
// The Asio types that the coroutines of this folder share. Heavy: include from .cc files only.
//
// The executor is the io_context's own, never any_io_executor: the type-erased one costs a third of
// the throughput.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

namespace berth::io {

namespace asio = boost::asio;

using Executor = asio::io_context::executor_type;
using TcpSocket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using TlsSocket = asio::ssl::stream<TcpSocket>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

template <typename T>
using Awaitable = asio::awaitable<T, Executor>;

/// `auto [error, size] = co_await socket.async_read_some(buffer, kAwait);`
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable_t<Executor>{});

inline TcpSocket& lowest_layer(TcpSocket& socket) { return socket; }
inline TcpSocket& lowest_layer(TlsSocket& stream) { return stream.next_layer(); }

}  // namespace berth::io
