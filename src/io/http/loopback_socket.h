// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "io/files/file.h"

namespace berth::io {

/// What a plain `http://` address on this machine's loopback says.
struct LoopbackPlace {
  std::string host{};  ///< "127.0.0.1", "localhost" or "::1".
  std::uint16_t port = 0;
  std::string target{};  ///< What comes after it; begins with a '/', if there is anything.
};

/// Nothing for every other address, one that is loopback in a way of its own among them.
std::optional<LoopbackPlace> loopback_place(std::string_view url);

/// A TCP connection within this machine. What fails is Unavailable. One thread.
class LoopbackSocket {
 public:
  /// Blocks until then at the most.
  static Result<LoopbackSocket> dial(const std::string& host, std::uint16_t port, TimePoint until);

  /// Nobody has sent anything, nor closed it.
  bool is_quiet() const;
  /// How many of these bytes are taken at once; 0: there is no room.
  Result<std::size_t> send_some(std::string_view bytes);
  /// How many bytes have come; nothing: none yet; 0: the other side sends no more.
  Result<std::optional<std::size_t>> receive_some(std::span<char> into);
  /// Blocks until this event of poll() comes. False: it has not until then.
  bool wait(short event, TimePoint until) const;

 private:
  explicit LoopbackSocket(Descriptor socket) : socket_(std::move(socket)) {}

  Descriptor socket_;
};

}  // namespace berth::io
