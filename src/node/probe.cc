// SPDX-License-Identifier: Apache-2.0
#include "node/probe.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "io/http/http_client.h"
#include "io/http/loopback_socket.h"

namespace berth::node {
namespace {

/// A full queue of connections does not answer: so it waits, but not for ever.
Status connect_once(int port, Duration timeout) {
  TRY(io::LoopbackSocket::dial("127.0.0.1", static_cast<std::uint16_t>(port),
                               SystemClock().now().mono + timeout));
  return Done{};
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
