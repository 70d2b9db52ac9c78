// SPDX-License-Identifier: Apache-2.0
#include "node/ports.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

#include "base/random.h"

namespace berth::node {
namespace {

// Below where Linux takes ports for outgoing connections from: one that is let go and not yet bound
// again must not fall to somebody's passing call.
constexpr int kLowest = 15'000;
constexpr int kHighest = 32'000;
constexpr int kTries = 200;

Result<io::Descriptor> bind_to(const addrinfo& where) {
  io::Descriptor socket(::socket(where.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // Not SO_REUSEADDR, which would let somebody else have it as well; and it does not listen: a peer
  // that is early must be refused, and try again, not be taken for one that was heard.
  if (!socket || ::bind(socket.get(), where.ai_addr, where.ai_addrlen) != 0) {
    return fail(io::error_from_errno(errno, "take a port"));
  }
  return socket;
}

Result<std::vector<io::Descriptor>> take_from(const std::string& address, int first, int count) {
  std::vector<io::Descriptor> sockets;
  for (int port = first; port < first + count; ++port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
      return fail(Code::InvalidArgument, fmt::format("'{}' is not an address", address));
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, ::freeaddrinfo);
    sockets.push_back(TRY(bind_to(*found)));
  }
  return sockets;
}

}  // namespace

Result<HeldPorts> HeldPorts::take(const std::string& address, int count, int first) {
  HeldPorts ports;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const auto span = static_cast<std::size_t>(kHighest - kLowest);
    ports.first_ = first != 0 ? first : kLowest + static_cast<int>(random_below(span));
    Result<std::vector<io::Descriptor>> sockets = take_from(address, ports.first_, count);
    if (sockets) {
      ports.sockets_ = std::move(*sockets);
      return ports;
    }
    if (first != 0 || sockets.error().code == Code::InvalidArgument) return fail(sockets.error());
  }
  return fail(Code::Unavailable, fmt::format("no {} free ports in a row on '{}'", count, address));
}

}  // namespace berth::node
