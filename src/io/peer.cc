// SPDX-License-Identifier: Apache-2.0
#include "io/peer.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::io {
namespace {

using boost::system::error_code;

/// An address of this machine that no other can use, also when written as IPv6 of a v4 listener.
bool is_loopback(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.is_loopback();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
}

}  // namespace

std::string peer_name(const TcpSocket& socket) {
  error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  if (error) return "unknown";
  const std::string address = endpoint.address().to_string();
  if (endpoint.address().is_v6()) return fmt::format("[{}]:{}", address, endpoint.port());
  return fmt::format("{}:{}", address, endpoint.port());
}

std::string peer_address(const TcpSocket& socket) {
  error_code error;
  const auto address = socket.remote_endpoint(error).address();
  if (error) return "unknown";
  if (!address.is_v6() || address.to_v6().is_v4_mapped()) return address.to_string();
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  return asio::ip::address_v6(bytes).to_string() + "/64";
}

bool is_plain_allowed(const TcpSocket& socket) {
  boost::system::error_code unknown;
  const auto ours = socket.local_endpoint(unknown).address();
  const auto theirs = socket.remote_endpoint(unknown).address();
  return !unknown && is_loopback(ours) && is_loopback(theirs);
}

}  // namespace berth::io
