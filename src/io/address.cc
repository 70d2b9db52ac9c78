// SPDX-License-Identifier: Apache-2.0
#include "io/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <memory>

#include "io/files/file.h"

namespace berth::io {
namespace {

constexpr std::string_view kScheme = "https://";
constexpr std::uint16_t kHttpsPort = 443;

tl::unexpected<Error> not_an_address(std::string_view url) {
  return fail(Code::InvalidArgument,
              fmt::format("'{}' is not written 'https://host:port'", url.substr(0, 200)));
}

bool is_host(std::string_view text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                              "XYZ0123456789.-_:") == std::string_view::npos;
}

Result<std::string> text_of(const sockaddr* address, socklen_t size) {
  char text[NI_MAXHOST];
  if (::getnameinfo(address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0) return text;
  return fail(Code::Internal, "an address cannot be written");
}

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Result<AddressList> look_up(const std::string& host, int kind) {
  addrinfo wanted{};
  wanted.ai_socktype = kind;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), "1", &wanted, &found);
  if (failed == 0) return AddressList(found, ::freeaddrinfo);
  return fail(Code::Unavailable, fmt::format("cannot find '{}': {}", host, ::gai_strerror(failed)));
}

/// Our side of a datagram socket to it; connecting one sends nothing.
Result<std::string> local_side(const addrinfo& address) {
  const Descriptor socket(::socket(address.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage ours{};
  socklen_t size = sizeof ours;
  if (!socket || ::connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&ours), &size) != 0) {
    return fail(error_from_errno(errno, "find the way to the server"));
  }
  return text_of(reinterpret_cast<const sockaddr*>(&ours), size);
}

}  // namespace

Result<ServerAddress> parse_https_address(std::string_view url) {
  if (!url.starts_with(kScheme)) return not_an_address(url);
  std::string_view rest = url.substr(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  ServerAddress address{.port = kHttpsPort};
  const bool is_bracketed = rest.starts_with('[');
  const std::size_t end = is_bracketed ? rest.find(']') : rest.find(':');
  if (is_bracketed && end == std::string_view::npos) return not_an_address(url);
  address.host = rest.substr(is_bracketed ? 1 : 0, is_bracketed ? end - 1 : end);
  rest = end == std::string_view::npos ? "" : rest.substr(end + (is_bracketed ? 1 : 0));
  if (!is_host(address.host)) return not_an_address(url);
  if (!is_bracketed && address.host.find(':') != std::string::npos) return not_an_address(url);
  if (rest.empty()) return address;
  const char* const last = rest.data() + rest.size();
  const auto [stopped, failed] = std::from_chars(rest.data() + 1, last, address.port);
  if (rest[0] != ':' || failed != std::errc() || stopped != last || address.port == 0) {
    return not_an_address(url);
  }
  return address;
}

Result<std::string> find_address(const std::string& host) {
  const AddressList found = TRY(look_up(host, SOCK_STREAM));
  return text_of(found->ai_addr, found->ai_addrlen);
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return addresses;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(found, ::freeifaddrs);
  for (const ifaddrs* each = found; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const Result<std::string> text =
        text_of(each->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    // Link-local ones mean something on one wire only, and carry its name.
    if (text && text->find('%') == std::string::npos) addresses.push_back(*text);
  }
  return addresses;
}

Result<std::string> local_address_towards(const ServerAddress& server) {
  const AddressList found = TRY(look_up(server.host, SOCK_DGRAM));
  Result<std::string> address = local_side(*found);
  for (const addrinfo* next = found->ai_next; !address && next; next = next->ai_next) {
    address = local_side(*next);
  }
  return address;
}

}  // namespace berth::io
