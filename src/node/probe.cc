// SPDX-License-Identifier: Apache-2.0
#include "node/probe.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "io/files/file.h"
#include "io/http/http_client.h"

namespace berth::node {
namespace {

/// A full queue of connections does not answer: so it waits, but not for ever.
Status connect_once(int port, Duration timeout) {
  const io::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail(io::error_from_errno(errno, "make a socket"));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    return Done{};
  }
  if (errno != EINPROGRESS) return fail(io::error_from_errno(errno, "connect"));
  pollfd writable{.fd = socket.get(), .events = POLLOUT, .revents = 0};
  if (::poll(&writable, 1, static_cast<int>(timeout.count())) != 1) {
    return fail(Code::Unavailable, "it does not take connections");
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0) return Done{};
  return fail(io::error_from_errno(error, "connect"));
}

Status ask_once(const model::Probe& probe, int port) {
  const auto answer =
      TRY(io::HttpClient().send({.url = fmt::format("http://127.0.0.1:{}{}", port, probe.path),
                                 .headers = {{"Connection", "close"}},
                                 .sink = [](std::string_view) { return Status(Done{}); },
                                 .timeout = probe.timeout,
                                 .connect_timeout = probe.timeout}));
  if (answer.status >= 200 && answer.status < 400) return Done{};
  return fail(Code::Unavailable, fmt::format("it answers {}", answer.status));
}

}  // namespace

Status probe_service(const model::Probe& probe, int port) {
  return probe.path.empty() ? connect_once(port, probe.timeout) : ask_once(probe, port);
}

}  // namespace berth::node
