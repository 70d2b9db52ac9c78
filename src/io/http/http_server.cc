// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>
#include <deque>
#include <utility>

#include "base/log.h"
#include "io/http/http_session.h"
#include "io/peer.h"
#include "io/stream.h"

namespace berth::io {
namespace {

using asio::ip::tcp;
using boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;

constexpr Duration kBetweenWarnings = std::chrono::seconds(10);

/// Fine enough to keep the shortest limit to within a quarter, coarse enough to cost nothing.
Duration tick_for(const HttpLimits& limits) {
  const Duration shortest =
      std::min({limits.head_timeout, limits.idle_timeout, limits.stall_timeout});
  return std::clamp(shortest / 4, Duration(10), Duration(500));
}

}  // namespace

struct HttpServer::State {
  State(Loop& on, SessionContext shared)
      : loop(on),
        context(std::make_shared<SessionContext>(std::move(shared))),
        ticker(loop.context().get_executor()),
        back_off(loop.context().get_executor()) {}

  static Awaitable<void> accept_all(std::shared_ptr<State> state, Acceptor& acceptor);
  static Awaitable<void> tick(std::shared_ptr<State> state);
  Status listen(const std::string& text, std::uint16_t at_port);
  void serve(const std::shared_ptr<State>& self, TcpSocket socket);
  bool make_room_for(const std::string& address);
  void stop_accepting();
  void close();

  Loop& loop;
  std::shared_ptr<SessionContext> context;
  std::deque<Acceptor> acceptors;  ///< They stay where they are.
  Timer ticker;
  Timer back_off;
  std::uint16_t port = 0;
  bool ticking = false;
  std::uint64_t turned_out = 0;  ///< To make room.
  TimePoint told_at{};
};

Awaitable<void> HttpServer::State::accept_all(std::shared_ptr<State> state, Acceptor& acceptor) {
  while (acceptor.is_open()) {
    TcpSocket socket(state->loop.context().get_executor());
    auto [error] = co_await acceptor.async_accept(socket, kAwait);
    if (!acceptor.is_open()) co_return;
    if (!error) {
      state->serve(state, std::move(socket));
    } else if (error != asio::error::connection_aborted) {
      // Out of descriptors, most likely: the waiting connection stays ready, so trying again at
      // once would spin.
      log::warning("cannot accept a connection: {}", error.message());
      state->back_off.expires_after(std::chrono::milliseconds(100));
      co_await state->back_off.async_wait(kAwait);
    }
  }
}

/// False: all that is there is better known than a newcomer.
bool HttpServer::State::make_room_for(const std::string& address) {
  const HttpLimits& limits = context->options.limits;
  const auto made = context->connections.make_room(
      address, {.all = limits.connections, .of_strangers = limits.connections_of_strangers});
  if (made.is_there && made.closed_from.empty()) return true;
  ++turned_out;
  const TimePoint now = SystemClock{}.now().mono;
  if (turned_out == 1 || now - told_at >= kBetweenWarnings) {
    told_at = now;
    log::warning(
        "too many connections ({} open, at most {}, {} of strangers from one address): closed {}; "
        "{} closed so far",
        context->connections.size(), limits.connections, limits.connections_of_strangers,
        made.is_there ? fmt::format("the oldest that can go, of {}", made.closed_from)
                      : fmt::format("the newest, of {}", address),
        turned_out);
  }
  return made.is_there;
}

void HttpServer::State::serve(const std::shared_ptr<State>& self, TcpSocket socket) {
  if (!make_room_for(peer_address(socket))) return;
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  asio::co_spawn(loop.context(), serve_connection(context, std::move(socket)), asio::detached);
  if (!std::exchange(ticking, true)) asio::co_spawn(loop.context(), tick(self), asio::detached);
}

Awaitable<void> HttpServer::State::tick(std::shared_ptr<State> state) {
  ConnectionTable& connections = state->context->connections;
  while (connections.size() > 0) {
    state->ticker.expires_after(connections.tick_length());
    co_await state->ticker.async_wait(kAwait);
    connections.tick();
  }
  state->ticking = false;
}

void HttpServer::State::stop_accepting() {
  error_code ignored;
  for (Acceptor& acceptor : acceptors) acceptor.close(ignored);
  back_off.cancel();
}

void HttpServer::State::close() {
  stop_accepting();
  context->closed = true;
  context->draining = true;
  context->connections.when_empty(nullptr);
  context->connections.cut_all();
}

HttpServer::HttpServer(Loop& loop, Offload& disk, HttpHandler& handler, HttpServerOptions options,
                       std::shared_ptr<const ServerTls> tls) {
  const Duration tick = tick_for(options.limits);
  const std::size_t held = options.limits.held_bytes;
  state_ = std::make_shared<State>(loop, SessionContext{.disk = disk,
                                                        .handler = handler,
                                                        .options = std::move(options),
                                                        .tls = std::move(tls),
                                                        .connections = ConnectionTable(tick),
                                                        .held = HeldBytes(held)});
}

HttpServer::~HttpServer() { state_->close(); }

Status HttpServer::State::listen(const std::string& text, std::uint16_t at_port) {
  error_code error;
  const auto address = asio::ip::make_address(text == "localhost" ? "127.0.0.1" : text, error);
  if (error) return fail(Code::InvalidArgument, fmt::format("'{}' is not an IP address", text));
  if (!address.is_loopback() && !context->tls) {
    return fail(Code::InvalidArgument, fmt::format("listening on '{}' needs TLS", text));
  }
  const tcp::endpoint endpoint(address, at_port);
  Acceptor& acceptor = acceptors.emplace_back(loop.context().get_executor());
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    const bool is_taken = error == asio::error::address_in_use;
    return fail(is_taken ? Code::Conflict : Code::Unavailable,
                fmt::format("cannot listen on {} port {}: {}", text, at_port, error.message()));
  }
  if (port == 0) port = acceptor.local_endpoint(error).port();
  return Done{};
}

Status HttpServer::listen() {
  const HttpServerOptions& options = state_->context->options;
  Status listening = state_->listen(options.address, options.port);
  for (const std::string& address : options.more_addresses) {
    if (listening) listening = state_->listen(address, state_->port);
  }
  if (!listening) {
    state_->stop_accepting();
    return listening;
  }
  for (Acceptor& acceptor : state_->acceptors) {
    asio::co_spawn(state_->loop.context(), State::accept_all(state_, acceptor), asio::detached);
  }
  return Done{};
}

std::uint16_t HttpServer::port() const { return state_->port; }

std::size_t HttpServer::connections() const { return state_->context->connections.size(); }

void HttpServer::recheck() { state_->context->connections.recheck(); }

void HttpServer::drain(Duration grace, std::function<void()> drained) {
  state_->context->draining = true;
  state_->stop_accepting();
  ConnectionTable& connections = state_->context->connections;
  if (connections.size() == 0) {
    state_->loop.post(std::move(drained));
    return;
  }
  const auto timer = std::make_shared<Loop::TimerId>(0);
  connections.when_empty([&loop = state_->loop, timer, drained] {
    loop.cancel(*timer);
    loop.post(drained);
  });
  // What is cut may still wait for a slow disk; it is not waited for.
  *timer = state_->loop.after(grace, [state = state_, drained] {
    if (state->context->closed) return;
    state->context->connections.when_empty(nullptr);
    state->context->connections.cut_all();
    drained();
  });
  connections.finish_all_soon();
}

}  // namespace berth::io
