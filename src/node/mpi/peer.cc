// SPDX-License-Identifier: Apache-2.0
#include "node/mpi/peer.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <functional>
#include <memory>
#include <set>

#include "base/digest.h"
#include "base/random.h"
#include "base/text.h"

namespace berth::node {
namespace {

constexpr std::string_view kGreeting = "berth-mpi 1 ";
constexpr std::string_view kDocumentationNet = "192.0.2.";
constexpr std::size_t kNonceBytes = 32;
constexpr std::size_t kLongestLine = 256;
constexpr int kBacklog = 16;

/// -1 when it is not one.
int parse_number(std::string_view text) {
  int number = -1;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size() ? number : -1;
}

tl::unexpected<Error> refused() {
  return fail(Code::Forbidden, "the peer does not know the job's secret");
}

Status send_line(int socket, std::string line) {
  line += '\n';
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t count = ::send(socket, left.data(), left.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail(io::error_from_errno(errno, "talk to a peer"));
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  return Done{};
}

/// Byte by byte: what follows the line belongs to somebody else.
Result<std::string> receive_line(int socket) {
  std::string line;
  while (line.size() < kLongestLine) {
    char letter = 0;
    const ssize_t count = ::recv(socket, &letter, 1, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(io::error_from_errno(errno, "listen to a peer"));
    if (count == 0) return fail(Code::Unavailable, "the peer has hung up");
    if (letter == '\n') return line;
    line += letter;
  }
  return fail(Code::InvalidArgument, "the peer does not speak our language");
}

std::string proof(std::string_view secret, std::string_view role, std::string_view host_nonce,
                  std::string_view caller_nonce) {
  return to_hex(
      hmac_sha256(secret, fmt::format("berth-mpi {} {} {}", role, host_nonce, caller_nonce)));
}

bool is_nonce(std::string_view text) {
  return text.size() == 2 * kNonceBytes &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

using Use = std::function<int(int socket, const addrinfo&)>;

Result<io::Descriptor> open_socket(const MpiPeer& place, int flags, const Use& use,
                                   std::string_view doing) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(place.port);
  if (::getaddrinfo(place.address.c_str(), port.c_str(), &hints, &found) != 0) {
    return fail(Code::InvalidArgument, fmt::format("'{}' is not an address", place.address));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, ::freeaddrinfo);
  io::Descriptor socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || use(socket.get(), *found) != 0) {
    const bool may_pass = errno == ECONNREFUSED || errno == ETIMEDOUT || errno == EHOSTUNREACH;
    Error error = io::error_from_errno(errno, fmt::format("{} {}:{}", doing, place.address, port));
    if (may_pass) error.code = Code::Unavailable;
    return fail(std::move(error));
  }
  return socket;
}

}  // namespace

Result<std::vector<MpiPeer>> parse_mpi_hosts(std::string_view text) {
  std::vector<MpiPeer> peers;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t colon = std::min(part.rfind(':'), part.size());
    const int port = parse_number(part.substr(std::min(colon + 1, part.size())));
    std::string_view address = part.substr(0, colon);
    if (address.starts_with('[') && address.ends_with(']')) {
      address = address.substr(1, address.size() - 2);
    }
    if (port < 1 || port > 65535 || address.empty()) {
      return fail(Code::InvalidArgument,
                  fmt::format("'{}' in {} is not an address and a port", part, kMpiHostsVariable));
    }
    peers.push_back({std::string(address), port});
  }
  return peers;
}

bool share_a_machine(const std::vector<MpiPeer>& peers) {
  std::set<std::string_view> addresses;
  for (const MpiPeer& peer : peers) addresses.insert(peer.address);
  return addresses.size() < peers.size();
}

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

std::string mpi_host_name(std::size_t rank) { return fmt::format("{}{}", kDocumentationNet, rank); }

Result<std::size_t> rank_of_mpi_host(std::string_view name) {
  const bool is_ours = name.starts_with(kDocumentationNet);
  const int rank = is_ours ? parse_number(name.substr(kDocumentationNet.size())) : -1;
  if (rank < 0) return fail(Code::InvalidArgument, fmt::format("'{}' is not a member", name));
  return static_cast<std::size_t>(rank);
}

Status prove_as_host(int socket, std::string_view secret) {
  if (secret.empty()) return fail(Code::InvalidArgument, "there is no secret to ask for");
  const std::string mine = random_hex(kNonceBytes);
  TRY(send_line(socket, std::string(kGreeting) + mine));
  const std::string answer = TRY(receive_line(socket));
  const auto words = split(answer, ' ');
  if (words.size() != 2 || !is_nonce(words[0])) return refused();
  if (!equal_in_constant_time(words[1], proof(secret, "caller", mine, words[0]))) return refused();
  return send_line(socket, proof(secret, "host", mine, words[0]));
}

Status prove_as_caller(int socket, std::string_view secret) {
  if (secret.empty()) return fail(Code::InvalidArgument, "there is no secret to prove");
  const std::string greeting = TRY(receive_line(socket));
  const std::string theirs =
      greeting.starts_with(kGreeting) ? greeting.substr(kGreeting.size()) : std::string();
  if (!is_nonce(theirs)) return refused();
  const std::string mine = random_hex(kNonceBytes);
  TRY(send_line(socket, mine + " " + proof(secret, "caller", theirs, mine)));
  const std::string answer = TRY(receive_line(socket));
  if (!equal_in_constant_time(answer, proof(secret, "host", theirs, mine))) return refused();
  return Done{};
}

Result<io::Descriptor> listen_at(const MpiPeer& place) {
  return open_socket(
      place, AI_PASSIVE,
      [](int socket, const addrinfo& where) {
        const int on = 1;
        ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        const int bound = ::bind(socket, where.ai_addr, where.ai_addrlen);
        return bound == 0 ? ::listen(socket, kBacklog) : bound;
      },
      "listen at");
}

Result<io::Descriptor> connect_to(const MpiPeer& place) {
  return open_socket(
      place, 0,
      [](int socket, const addrinfo& where) {
        const int on = 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        return ::connect(socket, where.ai_addr, where.ai_addrlen);
      },
      "reach");
}

}  // namespace berth::node
