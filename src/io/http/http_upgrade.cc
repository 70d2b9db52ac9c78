// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_upgrade.h"

#include <fmt/format.h>

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <functional>
#include <utility>

#include "base/text.h"
#include "io/http/upstream_connection.h"
#include "io/http/websocket_stream.h"

namespace berth::io {
namespace {

namespace beast = boost::beast;
using UpgradeRequest = beast::http::request<beast::http::empty_body>;

/// Keeps a connection that was handed over in the server's table, so that draining ends it too.
class HandedOverLink final : public Connection {
 public:
  explicit HandedOverLink(ConnectionTable& table) : Connection(table) {}

  void when_ended(std::function<void(bool at_once)> end) { end_ = std::move(end); }
  void expire() override {}
  void finish_soon() override { end(false); }
  void cut() override { end(true); }

 private:
  void end(bool at_once) {
    // What it ends may be this object.
    if (const auto act = end_) act(at_once);
  }

  std::function<void(bool at_once)> end_{};
};

struct Companion {
  std::shared_ptr<SessionContext> context;  // First: the link's last act is to leave its table.
  HandedOverLink link;
};

std::shared_ptr<Companion> companion_in(const std::shared_ptr<SessionContext>& context) {
  return std::shared_ptr<Companion>(new Companion{context, HandedOverLink(context->connections)});
}

template <typename Stream>
Awaitable<void> accept(std::shared_ptr<SessionContext> context, HttpLink& link, Stream& stream,
                       const UpgradeRequest& request, const Upgrade& wanted) {
  auto socket = std::make_shared<StreamWebSocket<Stream>>(std::move(stream));
  link.follow(&lowest_layer(socket->channel().next_layer()));
  link.set_deadline(context->options.limits.head_timeout);
  socket->channel().set_option(beast::websocket::stream_base::decorator(
      [](beast::websocket::response_type& response) { response.set("Server", "berth"); }));
  auto [error] = co_await socket->channel().async_accept(request, kAwait);
  link.follow(nullptr);
  const bool is_wanted = !error && !link.is_cut() && !context->draining;
  link.cut();  // The stream is gone from here: there is nobody to part from.
  if (!is_wanted) co_return;
  const auto companion = companion_in(context);
  companion->link.when_ended([weak = std::weak_ptr(socket)](bool at_once) {
    if (const auto open = weak.lock()) at_once ? open->cut() : open->close();
  });
  socket->attach(companion);
  wanted.accept(socket);
}

void hand_to(Upstream::State& pool, const std::shared_ptr<SessionContext>& context,
             UpstreamConnection::Stream stream) {
  const auto companion = companion_in(context);
  UpstreamConnection* const parked = pool.park(std::move(stream), companion);
  if (parked == nullptr) return;
  companion->link.when_ended(
      [parked](bool at_once) { at_once ? parked->cut() : parked->retire(); });
}

}  // namespace

Awaitable<bool> upgrade(std::shared_ptr<SessionContext> context, ClientEnd& client,
                        const RequestHead& head, const Upgrade& wanted) {
  UpgradeRequest request;
  request.method_string(head.method);
  request.target(head.path);
  for (const auto& [name, value] : head.headers) request.insert(name, value);
  if (!beast::websocket::is_upgrade(request) ||
      request[beast::http::field::sec_websocket_version] != "13" ||
      request[beast::http::field::sec_websocket_key].empty()) {
    co_return false;
  }
  if (TlsSocket* const tls = client.stream.tls()) {
    co_await accept(std::move(context), client.link, *tls, request, wanted);
  } else {
    co_await accept(std::move(context), client.link, *client.stream.tcp(), request, wanted);
  }
  co_return true;
}

Awaitable<bool> park(std::shared_ptr<SessionContext> context, ClientEnd& client,
                     const RequestHead& head, const Park& wanted) {
  if (!equals_ignoring_case(header(head.headers, "Upgrade"), wanted.protocol)) co_return false;
  const std::string answer =
      fmt::format("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: {}\r\n\r\n",
                  wanted.protocol);
  const bool is_open = co_await client.write_all(answer, {});
  client.link.follow(nullptr);
  client.link.cut();
  if (!is_open || context->draining) co_return true;
  Upstream::State& pool = wanted.into->state();
  if (TlsSocket* const tls = client.stream.tls()) {
    hand_to(pool, context, std::move(*tls));
  } else {
    hand_to(pool, context, PlainSocket(std::move(*client.stream.tcp())));
  }
  co_return true;
}

}  // namespace berth::io
