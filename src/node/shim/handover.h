// SPDX-License-Identifier: Apache-2.0
// What an agent tells a shim over their socket: where the attempt lies, and what must not lie
// there.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace berth::node {

struct Handover {
  std::string directory{};                       ///< With its launch.json.
  std::map<std::string, std::string> secrets{};  ///< Variables of the command, on no disk.
};

/// A message is whole or not there. It has to fit into the socket's buffer, of which the kernel
/// gives some 200 KiB unless told otherwise; the server lets a job have less (kMostSecretBytes).
inline constexpr std::size_t kLongestHandover = 160 * 1024;

/// The parts, each closed by a NUL, which neither a path nor a variable can hold.
std::string encode(const Handover& handover);
Handover decode_handover(std::string_view message);

}  // namespace berth::node
