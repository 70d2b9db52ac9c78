// SPDX-License-Identifier: Apache-2.0
#include "io/http/parked_pipe.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "io/http/dial.h"
#include "io/wake.h"

namespace berth::io {

namespace {

using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kParkTimeout = std::chrono::seconds(15);
/// For a TLS connection's end to be heard, or for a service to end what the server has ended.
constexpr auto kPartTimeout = std::chrono::seconds(30);
constexpr std::size_t kHeadBytes = 8 * 1024;
constexpr std::size_t kPieceBytes = 64 * 1024;

}  // namespace

struct ParkedPipe::State : std::enable_shared_from_this<ParkedPipe::State> {
  State(Loop& on, WebSocketAddress where, std::string what, std::uint16_t to, Events told)
      : loop(on),
        address(std::move(where)),
        protocol(std::move(what)),
        port(to),
        events(std::move(told)),
        service(on.context().get_executor()) {}

  static Awaitable<void> run(std::shared_ptr<State> self);
  Awaitable<Status> park();
  Awaitable<void> serve();
  Awaitable<bool> connect_service();
  static Awaitable<void> carry_requests(std::shared_ptr<State> self, std::shared_ptr<Wake> over);
  Awaitable<void> carry_answers();
  Awaitable<void> part();
  void cut();

  StreamView server_view() {
    if (auto* const plain = std::get_if<TcpSocket>(&*server)) return StreamView(*plain);
    return StreamView(std::get<TlsSocket>(*server));
  }
  StreamView service_view() { return StreamView(service); }
  static Awaitable<bool> write_all(StreamView to, std::string_view bytes);
  void cut_after(Duration time) {
    loop.after(time, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->cut();
    });
  }

  Loop& loop;
  const WebSocketAddress address;
  const std::string protocol;
  const std::uint16_t port;
  Events events;
  Dialling dialling{};
  std::optional<DialledStream> server{};
  TcpSocket service;
  std::string early{};  ///< Of the first request, already read.
  bool is_cut = false;
};

Awaitable<bool> ParkedPipe::State::write_all(StreamView to, std::string_view bytes) {
  while (!bytes.empty()) {
    auto [error, size] = co_await to.write_some(bytes, {});
    if (error) co_return false;
    bytes.remove_prefix(size);
  }
  co_return true;
}

/// Up to the server's word that it has the connection.
Awaitable<Status> ParkedPipe::State::park() {
  Result<DialledStream> dialled = co_await dial_stream(loop.context(), address, dialling);
  if (!dialled) co_return fail(dialled.error());
  server.emplace(std::move(*dialled));
  if (is_cut) co_return cannot_connect(address, "timed out");
  const std::string request = fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: Upgrade\r\n"
      "Upgrade: {}\r\n\r\n",
      address.path, authority_of(address), address.bearer_token, protocol);
  const bool is_sent = co_await write_all(server_view(), request);
  if (!is_sent) co_return cannot_connect(address, "it hung up");
  std::string head;
  std::size_t end = head.npos;
  std::vector<char> piece(kHeadBytes);
  while (end == head.npos && head.size() < kHeadBytes) {
    auto [error, size] = co_await server_view().read_some({piece.data(), piece.size()});
    if (error) co_return cannot_connect(address, error.message());
    head.append(piece.data(), size);
    end = head.find("\r\n\r\n");
  }
  if (end == head.npos || !head.starts_with("HTTP/1.1 101 ")) {
    constexpr std::size_t kBeforeStatus = 9;
    co_return refused_upgrade(address, std::atoi(head.c_str() + kBeforeStatus));
  }
  early = head.substr(end + 4);
  co_return Done{};
}

Awaitable<bool> ParkedPipe::State::connect_service() {
  const tcp::endpoint where(asio::ip::address_v4::loopback(), port);
  auto [error] = co_await service.async_connect(where, kAwait);
  error_code ignored;
  if (!error) service.set_option(tcp::no_delay(true), ignored);
  co_return !error;
}

/// Waits for the first byte of a request, then carries until one side ends.
Awaitable<void> ParkedPipe::State::serve() {
  if (early.empty()) {
    std::vector<char> piece(kPieceBytes);
    auto [error, size] = co_await server_view().read_some({piece.data(), piece.size()});
    if (error) co_return;
    early.assign(piece.data(), size);
  }
  if (const auto tell = events.on_used) tell();
  if (is_cut) co_return;
  const bool is_connected = co_await connect_service();
  if (!is_connected) co_return;
  const bool is_passed = co_await write_all(service_view(), std::exchange(early, {}));
  if (!is_passed) co_return;
  const auto over = std::make_shared<Wake>();
  asio::co_spawn(loop.context(), carry_requests(shared_from_this(), over), asio::detached);
  co_await carry_answers();
  server_view().cancel();
  service_view().close();
  co_await over->wait();
  co_await part();
}

Awaitable<void> ParkedPipe::State::carry_requests(std::shared_ptr<State> self,
                                                  std::shared_ptr<Wake> over) {
  const RingsAtEnd end(over);
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    auto [error, size] = co_await self->server_view().read_some({piece.data(), piece.size()});
    if (error) break;
    const bool is_passed = co_await write_all(self->service_view(), {piece.data(), size});
    if (!is_passed) break;
  }
  self->service_view().shutdown_send();
  self->cut_after(kPartTimeout);
  end.ring();
}

Awaitable<void> ParkedPipe::State::carry_answers() {
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    auto [error, size] = co_await service_view().read_some({piece.data(), piece.size()});
    if (error) co_return;
    const bool is_passed = co_await write_all(server_view(), {piece.data(), size});
    if (!is_passed) co_return;
  }
}

/// So that an answer that ends with its connection is seen to be whole.
Awaitable<void> ParkedPipe::State::part() {
  auto* const tls = std::get_if<TlsSocket>(&*server);
  if (tls == nullptr || is_cut) co_return;
  cut_after(kPartTimeout);
  co_await tls->async_shutdown(kAwait);
}

void ParkedPipe::State::cut() {
  if (std::exchange(is_cut, true)) return;
  dialling.give_up();
  if (server) server_view().close();
  error_code ignored;
  service.close(ignored);
}

Awaitable<void> ParkedPipe::State::run(std::shared_ptr<State> self) {
  const Loop::TimerId timer = self->loop.after(kParkTimeout, [weak = std::weak_ptr(self)] {
    if (const auto late = weak.lock()) late->cut();
  });
  const Status parked = co_await self->park();
  self->loop.cancel(timer);
  if (parked && !self->is_cut) {
    if (const auto tell = self->events.on_parked) tell();
    co_await self->serve();
  }
  self->cut();
  const Events events = std::exchange(self->events, {});
  if (events.on_closed) events.on_closed(parked);
}

ParkedPipe::ParkedPipe(std::shared_ptr<State> state) : state_(std::move(state)) {}
ParkedPipe::~ParkedPipe() { cut(); }

std::shared_ptr<ParkedPipe> ParkedPipe::open(Loop& loop, WebSocketAddress address,
                                             std::string protocol, std::uint16_t port,
                                             Events events) {
  auto state = std::make_shared<State>(loop, std::move(address), std::move(protocol), port,
                                       std::move(events));
  asio::co_spawn(loop.context(), State::run(state), asio::detached);
  return std::make_shared<ParkedPipe>(std::move(state));
}

void ParkedPipe::cut() {
  state_->events = {};
  state_->cut();
}

}  // namespace berth::io
