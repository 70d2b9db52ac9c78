// SPDX-License-Identifier: Apache-2.0
// Who is at the other end of a socket. Heavy: include from .cc files only.
#pragma once

#include <string>

#include "io/stream.h"

namespace berth::io {

/// "127.0.0.1:51234".
std::string peer_name(const TcpSocket& socket);

/// The address alone. Of IPv6 its first 64 bits: who has one below them has them all.
std::string peer_address(const TcpSocket& socket);

/// Both ends are this machine's: nobody can listen in between.
bool is_plain_allowed(const TcpSocket& socket);

}  // namespace berth::io
