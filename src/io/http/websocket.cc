// SPDX-License-Identifier: Apache-2.0
#include "io/http/websocket.h"

#include <fmt/format.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <utility>

#include "io/http/websocket_stream.h"
#include "io/process/signals.h"

namespace berth::io {
namespace {

using asio::ip::tcp;
using boost::system::error_code;
namespace websocket = boost::beast::websocket;
using Outcome = Result<std::shared_ptr<WebSocket>>;

constexpr auto kDialTimeout = std::chrono::seconds(15);

/// The socket being dialled, for the timer that ends it.
struct Dialling {
  TcpSocket* socket = nullptr;
  bool is_late = false;

  void give_up() {
    is_late = true;
    error_code ignored;
    if (socket != nullptr) socket->close(ignored);
  }
};

tl::unexpected<Error> cannot_connect(const WebSocketAddress& address, std::string_view why) {
  return fail(Code::Unavailable,
              fmt::format("cannot connect to {} port {}: {}", address.host, address.port, why));
}

tl::unexpected<Error> refused(const WebSocketAddress& address, int status) {
  const Code code = status == 401   ? Code::Unauthenticated
                    : status == 403 ? Code::Forbidden
                    : status == 404 ? Code::NotFound
                    : status == 409 ? Code::Conflict
                                    : Code::Unavailable;
  return fail(code, fmt::format("{} port {} refused the connection with status {}", address.host,
                                address.port, status));
}

template <typename Stream>
Awaitable<Outcome> shake_hands(Stream stream, const WebSocketAddress& address, Dialling& dialling) {
  auto socket = std::make_shared<StreamWebSocket<Stream>>(std::move(stream));
  auto& channel = socket->channel();
  dialling.socket = &lowest_layer(channel.next_layer());
  channel.set_option(
      websocket::stream_base::decorator([&address](websocket::request_type& request) {
        if (!address.bearer_token.empty()) {
          request.set("Authorization", "Bearer " + address.bearer_token);
        }
      }));
  const bool is_v6 = address.host.find(':') != std::string::npos;
  const std::string host = is_v6 ? fmt::format("[{}]:{}", address.host, address.port)
                                 : fmt::format("{}:{}", address.host, address.port);
  websocket::response_type response;
  auto [error] = co_await channel.async_handshake(response, host, address.path, kAwait);
  dialling.socket = nullptr;
  // The decorator's reference to the address ends with this call.
  channel.set_option(websocket::stream_base::decorator([](websocket::request_type&) {}));
  if (error == websocket::error::upgrade_declined) {
    co_return refused(address, response.result_int());
  }
  if (error) co_return cannot_connect(address, error.message());
  co_return socket;
}

Awaitable<Outcome> secure(TcpSocket socket, const WebSocketAddress& address, Dialling& dialling) {
  TlsSocket stream(std::move(socket), *static_cast<asio::ssl::context*>(address.tls->context()));
  dialling.socket = &stream.next_layer();
  error_code error;
  asio::ip::make_address(address.host, error);
  if (error) SSL_set_tlsext_host_name(stream.native_handle(), address.host.c_str());
  stream.set_verify_callback(asio::ssl::host_name_verification(address.host), error);
  auto [failed] = co_await stream.async_handshake(TlsSocket::client, kAwait);
  dialling.socket = nullptr;
  if (failed) co_return cannot_connect(address, failed.message());
  co_return co_await shake_hands(std::move(stream), address, dialling);
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

Awaitable<Outcome> dial(asio::io_context& context, const WebSocketAddress& address,
                        Dialling& dialling) {
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
  co_return co_await shake_hands(std::move(socket), address, dialling);
}

Awaitable<void> dial_in_time(Loop& loop, WebSocketAddress address,
                             std::function<void(Outcome)> done) {
  const auto dialling = std::make_shared<Dialling>();
  const Loop::TimerId timer = loop.after(kDialTimeout, [dialling] { dialling->give_up(); });
  Outcome outcome = co_await dial(loop.context(), address, *dialling);
  loop.cancel(timer);
  done(std::move(outcome));
}

}  // namespace

void connect_websocket(Loop& loop, const WebSocketAddress& address,
                       std::function<void(Result<std::shared_ptr<WebSocket>>)> done) {
  asio::co_spawn(loop.context(), dial_in_time(loop, address, std::move(done)), asio::detached);
}

}  // namespace berth::io
