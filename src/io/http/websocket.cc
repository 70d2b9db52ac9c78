// SPDX-License-Identifier: Apache-2.0
#include "io/http/websocket.h"

#include <utility>

#include "io/http/dial.h"
#include "io/http/websocket_stream.h"

namespace berth::io {
namespace {

namespace websocket = boost::beast::websocket;
using Outcome = Result<std::shared_ptr<WebSocket>>;

constexpr auto kDialTimeout = std::chrono::seconds(15);

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
  websocket::response_type response;
  auto [error] =
      co_await channel.async_handshake(response, authority_of(address), address.path, kAwait);
  dialling.socket = nullptr;
  // The decorator's reference to the address ends with this call.
  channel.set_option(websocket::stream_base::decorator([](websocket::request_type&) {}));
  if (error == websocket::error::upgrade_declined) {
    co_return refused_upgrade(address, response.result_int());
  }
  if (error) co_return cannot_connect(address, error.message());
  co_return socket;
}

Awaitable<Outcome> dial(asio::io_context& context, const WebSocketAddress& address,
                        Dialling& dialling) {
  Result<DialledStream> stream = co_await dial_stream(context, address, dialling);
  if (!stream) co_return fail(stream.error());
  if (auto* const tls = std::get_if<TlsSocket>(&*stream)) {
    co_return co_await shake_hands(std::move(*tls), address, dialling);
  }
  co_return co_await shake_hands(std::get<TcpSocket>(std::move(*stream)), address, dialling);
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
