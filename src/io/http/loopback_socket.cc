// SPDX-License-Identifier: Apache-2.0
#include "io/http/loopback_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/text.h"

namespace berth::io {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr std::uint16_t kHttpPort = 80;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

SocketAddress v4(std::uint16_t port) {
  SocketAddress address{.size = sizeof(sockaddr_in)};
  auto& place = reinterpret_cast<sockaddr_in&>(address.storage);
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

SocketAddress v6(std::uint16_t port) {
  SocketAddress address{.size = sizeof(sockaddr_in6)};
  auto& place = reinterpret_cast<sockaddr_in6&>(address.storage);
  place.sin6_family = AF_INET6;
  place.sin6_port = htons(port);
  place.sin6_addr = in6addr_loopback;
  return address;
}

tl::unexpected<Error> failed(int error, std::string_view doing_what) {
  return fail(Code::Unavailable, error_from_errno(error, doing_what).message);
}

bool wait_for(int socket, short event, TimePoint until) {
  constexpr Duration kLongest = std::chrono::hours(1);  // poll() takes an int.
  for (;;) {
    const Duration left = until - SystemClock().now().mono;
    pollfd waiting{.fd = socket, .events = event, .revents = 0};
    const auto patience = std::clamp(left, Duration(0), kLongest);
    const int ready = ::poll(&waiting, 1, static_cast<int>(patience.count()));
    if (ready > 0) return true;
    if (ready == 0 && left <= kLongest) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

/// Why it could not be made, as errno has it.
int connect(int socket, const SocketAddress& address, TimePoint until) {
  const auto* const place = reinterpret_cast<const sockaddr*>(&address.storage);
  if (::connect(socket, place, address.size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(socket, POLLOUT, until)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

Result<Descriptor> connected(const SocketAddress& address, TimePoint until) {
  constexpr int kType = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  Descriptor socket(::socket(address.storage.ss_family, kType, 0));
  if (!socket) return failed(errno, "make a socket");
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const int error = connect(socket.get(), address, until);
  if (error != 0) return failed(error, "connect");
  return socket;
}

std::optional<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const char* const last = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), last, port);
  if (error != std::errc() || stopped != last || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::optional<LoopbackPlace> loopback_place(std::string_view url) {
  if (!starts_with_ignoring_case(url, kScheme)) return std::nullopt;
  url.remove_prefix(kScheme.size());
  const std::size_t slash = std::min(url.find('/'), url.size());
  std::string_view authority = url.substr(0, slash);
  LoopbackPlace place{.port = kHttpPort, .target = std::string(url.substr(slash))};
  for (const std::string_view host : {"127.0.0.1", "localhost", "[::1]"}) {
    if (!starts_with_ignoring_case(authority, host)) continue;
    place.host = host == "[::1]" ? "::1" : host;
    authority.remove_prefix(host.size());
    if (authority.empty()) return place;
    const auto port = authority[0] == ':' ? port_of(authority.substr(1)) : std::nullopt;
    if (!port) return std::nullopt;
    place.port = *port;
    return place;
  }
  return std::nullopt;
}

Result<LoopbackSocket> LoopbackSocket::dial(const std::string& host, std::uint16_t port,
                                            TimePoint until) {
  auto socket = connected(host == "::1" ? v6(port) : v4(port), until);
  if (!socket && host == "localhost") {
    if (auto other = connected(v6(port), until)) socket = std::move(other);
  }
  if (socket) return LoopbackSocket(std::move(*socket));
  return fail(Code::Unavailable, fmt::format("{} port {}: {}", host, port, socket.error().message));
}

bool LoopbackSocket::is_quiet() const {
  char byte = 0;
  return ::recv(socket_.get(), &byte, 1, MSG_PEEK) < 0 && errno == EAGAIN;
}

Result<std::size_t> LoopbackSocket::send_some(std::string_view bytes) {
  ssize_t sent = -1;
  do {
    sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (errno == EAGAIN) return 0u;
  return failed(errno, "send");
}

Result<std::optional<std::size_t>> LoopbackSocket::receive_some(std::span<char> into) {
  ssize_t got = -1;
  do {
    got = ::recv(socket_.get(), into.data(), into.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got >= 0) return static_cast<std::size_t>(got);
  if (errno == EAGAIN) return std::nullopt;
  return failed(errno, "receive");
}

bool LoopbackSocket::wait(short event, TimePoint until) const {
  return wait_for(socket_.get(), event, until);
}

}  // namespace berth::io
