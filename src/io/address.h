// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace berth::io {

struct ServerAddress {
  std::string host{};  ///< A name or an address, IPv6 without brackets.
  std::uint16_t port = 0;

  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

/// "https://head.lab:8470". Nothing may follow but a '/'; nothing else may come before.
Result<ServerAddress> parse_https_address(std::string_view url);

/// An address that a name stands for; an address stands for itself. Blocks.
Result<std::string> find_address(const std::string& host);

/// The addresses of this machine that others may reach it at: neither loopback nor link-local.
std::vector<std::string> own_addresses();

/// The address of this machine that the server sees us come from, and so one at which the server's
/// other neighbours can reach us. Blocks for a name to be found; sends nothing.
Result<std::string> local_address_towards(const ServerAddress& server);

}  // namespace berth::io
