// SPDX-License-Identifier: Apache-2.0
// Both ends of a conversation, written byte by byte. For tests.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "io/files/file.h"

namespace berth::io {

/// One end of a connection. Waits at most a minute for anything.
class Wire {
 public:
  static constexpr int kPatienceMs = 60'000;

  Wire() = default;
  explicit Wire(Descriptor socket) : socket_(std::move(socket)) {
    const timeval patience{.tv_sec = kPatienceMs / 1000, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  }
  /// With little room for what it does not read, if asked.
  static Wire to_port(std::uint16_t port, bool takes_little = false) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int bytes = 4096;
    if (takes_little) ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
          "cannot connect");
    return Wire(std::move(socket));
  }
  static std::pair<Wire, Descriptor> pair() {
    int ends[2] = {-1, -1};
    CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "no socket pair");
    return {Wire(Descriptor(ends[0])), Descriptor(ends[1])};
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// Sends until the other side has taken no more for a while. Returns how much it took.
  std::size_t send_until_stuck(std::size_t at_most) {
    const std::string piece(64 * 1024, 'x');
    std::size_t total = 0;
    pollfd writable{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
    while (total < at_most && ::poll(&writable, 1, 500) == 1) {
      const std::size_t size = std::min(piece.size(), at_most - total);
      const ssize_t sent = ::send(socket_.get(), piece.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) break;
      total += static_cast<std::size_t>(sent);
    }
    return total;
  }

  /// Up to and with the mark; what is there when the connection ends first.
  std::string receive_to(std::string_view mark) {
    for (;;) {
      const std::size_t found = input_.find(mark);
      if (found != std::string::npos) return take(found + mark.size());
      if (!receive_some()) return take(input_.size());
    }
  }
  std::string receive_head() { return receive_to("\r\n\r\n"); }
  std::string receive(std::size_t size) {
    while (input_.size() < size && receive_some()) {
    }
    return take(std::min(size, input_.size()));
  }
  std::string receive_rest() { return receive(static_cast<std::size_t>(-1)); }
  /// Nothing more comes: the other side has closed, or has broken off.
  bool is_closed() { return input_.empty() && !receive_some() && errno != EAGAIN; }

  /// Something is there to be read, now.
  bool is_called() const {
    pollfd readable{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    return !input_.empty() || ::poll(&readable, 1, 0) == 1;
  }

  void half_close() { ::shutdown(socket_.get(), SHUT_WR); }
  void close() { socket_.reset(); }

 private:
  bool receive_some() {
    char piece[65536];
    errno = 0;
    const ssize_t got = ::recv(socket_.get(), piece, sizeof piece, 0);
    if (got <= 0) return false;
    input_.append(piece, static_cast<std::size_t>(got));
    return true;
  }
  std::string take(std::size_t size) {
    std::string taken = input_.substr(0, size);
    input_.erase(0, size);
    return taken;
  }

  Descriptor socket_{};
  std::string input_{};
};

/// Somebody who listens, and answers as the test says.
class WireListener {
 public:
  WireListener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    CHECK(::bind(socket_.get(), any, size) == 0 && ::listen(socket_.get(), 64) == 0 &&
              ::getsockname(socket_.get(), any, &size) == 0,
          "cannot listen");
    port_ = ntohs(address.sin_port);
  }
  explicit WireListener(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    CHECK(path.size() < sizeof address.sun_path, "a short path");
    path.copy(address.sun_path, path.size());
    CHECK(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
              ::listen(socket_.get(), 64) == 0,
          "cannot listen");
  }

  std::uint16_t port() const { return port_; }
  Wire accept() {
    CHECK(is_called(Wire::kPatienceMs), "nobody came");
    return Wire(Descriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  }
  bool is_called(int within_ms = 0) {
    pollfd readable{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&readable, 1, within_ms) == 1;
  }
  void close() { socket_.reset(); }

 private:
  Descriptor socket_;
  std::uint16_t port_ = 0;
};

}  // namespace berth::io
