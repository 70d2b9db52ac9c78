// SPDX-License-Identifier: Apache-2.0
#include "io/http/upstream.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cerrno>

#include "io/http/upstream_connection.h"

namespace berth::io {
namespace {

using asio::generic::stream_protocol;
using asio::ip::tcp;
using boost::system::error_code;

Duration tick_for(const UpstreamOptions& options) {
  Duration shortest = std::min(
      {options.connect_timeout, options.head_timeout, options.stall_timeout, options.idle_timeout});
  if (options.silence_timeout > Duration(0)) shortest = std::min(shortest, options.silence_timeout);
  return std::clamp(shortest / 4, Duration(10), Duration(500));
}

}  // namespace

bool UpstreamConnection::is_stale() {
  if (!input_.empty()) return true;
  char byte = 0;
  const ssize_t seen = ::recv(view().descriptor(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return seen >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

Upstream::State::State(Loop& on, std::optional<Endpoint> where, UpstreamOptions settings)
    : loop(on), endpoint(std::move(where)), options(settings), connections_(tick_for(settings)) {}

Upstream::State::Taken Upstream::State::take_idle() {
  while (!idle_.empty()) {
    Taken connection = std::move(idle_.back());
    idle_.pop_back();
    connection->when_idle_expires(nullptr);
    connection->clear_deadline();
    if (!connection->is_stale()) return connection;
  }
  return nullptr;
}

Upstream::State::Taken Upstream::State::make() {
  tick_soon();
  return std::make_unique<UpstreamConnection>(connections_,
                                              PlainSocket(loop.context().get_executor()));
}

Awaitable<error_code> Upstream::State::connect(UpstreamConnection& connection) const {
  error_code failed;
  connection.socket().open(endpoint->protocol(), failed);
  if (failed) co_return failed;
  connection.set_deadline(options.connect_timeout);
  auto [error] = co_await connection.socket().async_connect(*endpoint, kAwait);
  connection.clear_deadline();
  error_code ignored;  // Of a Unix socket, which knows no such thing.
  if (!error) connection.socket().set_option(tcp::no_delay(true), ignored);
  co_return error;
}

void Upstream::State::give_back(Taken connection) {
  if (is_closed_ || connection->is_retired()) return;
  connection->set_used();
  connection->clear_deadline();
  while (!waiters.empty()) {
    const std::shared_ptr<Waiter> waiter = waiters.front().lock();
    waiters.pop_front();
    if (!waiter) continue;
    waiter->got = std::move(connection);
    return waiter->wake.ring();
  }
  if (idle_.size() >= options.idle_connections) idle_.erase(idle_.begin());
  connection->when_idle_expires([this, raw = connection.get()] { idle_expired(raw); });
  connection->set_deadline(options.idle_timeout);
  idle_.push_back(std::move(connection));
}

UpstreamConnection* Upstream::State::park(UpstreamConnection::Stream stream,
                                          std::shared_ptr<void> companion) {
  if (is_closed_) return nullptr;
  tick_soon();
  auto connection = std::make_unique<UpstreamConnection>(connections_, std::move(stream));
  UpstreamConnection* const parked = connection.get();
  connection->attach(std::move(companion));
  give_back(std::move(connection));
  return parked;
}

/// One that was dialled is closed. One that was parked cannot be dialled again: it stays while its
/// peer does.
void Upstream::State::idle_expired(UpstreamConnection* connection) {
  if (is_parked() && !connection->is_stale()) return connection->set_deadline(options.idle_timeout);
  std::erase_if(idle_, [connection](const Taken& each) { return each.get() == connection; });
}

void Upstream::State::tick_soon() {
  if (std::exchange(is_ticking_, true)) return;
  loop.after(connections_.tick_length(), [weak = weak_from_this()] {
    const auto state = weak.lock();
    if (!state) return;
    state->is_ticking_ = false;
    state->connections_.tick();
    if (state->connections_.size() > 0) state->tick_soon();
  });
}

void Upstream::State::close() {
  is_closed_ = true;
  idle_.clear();
}

void Upstream::State::abandon() {
  close();
  connections_.cut_all();
  for (const auto& each : std::exchange(waiters, {})) {
    if (const auto waiter = each.lock()) waiter->wake.ring();
  }
}

void Upstream::abandon() { state_->abandon(); }

Upstream::Upstream(std::shared_ptr<State> state) : state_(std::move(state)) {}
Upstream::~Upstream() { state_->close(); }

Result<std::shared_ptr<Upstream>> Upstream::at_port(Loop& loop, const std::string& address,
                                                    std::uint16_t port, UpstreamOptions options) {
  error_code error;
  const auto parsed = asio::ip::make_address(address, error);
  if (error || !parsed.is_loopback()) {
    return fail(Code::InvalidArgument, fmt::format("'{}' is not a loopback address", address));
  }
  return std::make_shared<Upstream>(
      std::make_shared<State>(loop, State::Endpoint(tcp::endpoint(parsed, port)), options));
}

Result<std::shared_ptr<Upstream>> Upstream::at_socket(Loop& loop, const std::string& path,
                                                      UpstreamOptions options) {
  constexpr std::size_t kLongest = 107;  // Of sockaddr_un, with the NUL that ends it.
  if (path.empty() || path.size() > kLongest || path.find('\0') != std::string::npos) {
    return fail(Code::InvalidArgument,
                fmt::format("the path of a Unix socket has 1 to {} bytes: '{}'", kLongest, path));
  }
  return std::make_shared<Upstream>(std::make_shared<State>(
      loop, State::Endpoint(asio::local::stream_protocol::endpoint(path)), options));
}

std::shared_ptr<Upstream> Upstream::of_parked(Loop& loop, UpstreamOptions options) {
  return std::make_shared<Upstream>(std::make_shared<State>(loop, std::nullopt, options));
}

Status Upstream::park(Descriptor connected) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  error_code error;
  PlainSocket socket(state_->loop.context().get_executor());
  if (::getsockname(connected.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return fail(Code::InvalidArgument, "only a connected socket can be parked");
  }
  socket.assign(stream_protocol(address.ss_family, 0), connected.get(), error);
  if (error) {
    return fail(Code::Unavailable, fmt::format("cannot park a connection: {}", error.message()));
  }
  (void)connected.release();
  state_->park(std::move(socket), nullptr);
  return Done{};
}

std::size_t Upstream::idle() const { return state_->idle_.size(); }

}  // namespace berth::io
