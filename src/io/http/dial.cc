// SPDX-License-Identifier: Apache-2.0
#include "io/http/dial.h"

#include <fmt/format.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <utility>

#include "io/process/signals.h"

// g++ 12 sees that Asio takes a coroutine's frame from aligned_alloc and not that it gives it back
// by free.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace berth::io {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

Awaitable<Result<DialledStream>> secure(TcpSocket socket, const WebSocketAddress& address,
                                        Dialling& dialling) {
  TlsSocket stream(std::move(socket), *static_cast<asio::ssl::context*>(address.tls->context()));
  dialling.socket = &stream.next_layer();
  error_code error;
  asio::ip::make_address(address.host, error);
  if (error) SSL_set_tlsext_host_name(stream.native_handle(), address.host.c_str());
  stream.set_verify_callback(asio::ssl::host_name_verification(address.host), error);
  auto [failed] = co_await stream.async_handshake(TlsSocket::client, kAwait);
  dialling.socket = nullptr;
  if (failed) co_return cannot_connect(address, failed.message());
  co_return DialledStream(std::move(stream));
}

/// Asio asks for names on a thread of its own, which begins with the first question. It must hear
/// no signals: a process that holds them back while it tidies up would be ended through that
/// thread.
void start_resolver_thread(asio::io_context& context) {
  using Resolver = asio::ip::basic_resolver<tcp, Executor>;
  const SignalMask held = SignalMask::hold({SIGTERM, SIGINT});
  Resolver(context.get_executor())
      .async_resolve("127.0.0.1", "0", Resolver::numeric_host | Resolver::numeric_service,
                     [](const error_code&, const Resolver::results_type&) {});
}

}  // namespace

void Dialling::give_up() {
  is_late = true;
  error_code ignored;
  if (socket != nullptr) socket->close(ignored);
}

std::string authority_of(const WebSocketAddress& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", address.host, address.port)
               : fmt::format("{}:{}", address.host, address.port);
}

tl::unexpected<Error> cannot_connect(const WebSocketAddress& address, std::string_view why) {
  return fail(Code::Unavailable,
              fmt::format("cannot connect to {} port {}: {}", address.host, address.port, why));
}

tl::unexpected<Error> refused_upgrade(const WebSocketAddress& address, int status) {
  const Code code = status == 401   ? Code::Unauthenticated
                    : status == 403 ? Code::Forbidden
                    : status == 404 ? Code::NotFound
                    : status == 409 ? Code::Conflict
                                    : Code::Unavailable;
  return fail(code, fmt::format("{} port {} refused the connection with status {}", address.host,
                                address.port, status));
}

Awaitable<Result<DialledStream>> dial_stream(asio::io_context& context,
                                             const WebSocketAddress& address, Dialling& dialling) {
  start_resolver_thread(context);
  asio::ip::basic_resolver<tcp, Executor> resolver(context.get_executor());
  auto [unknown, found] =
      co_await resolver.async_resolve(address.host, std::to_string(address.port), kAwait);
  if (unknown) co_return cannot_connect(address, unknown.message());
  if (dialling.is_late) co_return cannot_connect(address, "timed out");
  TcpSocket socket(context.get_executor());
  dialling.socket = &socket;
  auto [error, endpoint] = co_await asio::async_connect(socket, found, kAwait);
  dialling.socket = nullptr;
  if (error) co_return cannot_connect(address, dialling.is_late ? "timed out" : error.message());
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (address.tls) co_return co_await secure(std::move(socket), address, dialling);
  co_return DialledStream(std::move(socket));
}

}  // namespace berth::io
