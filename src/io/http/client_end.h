// SPDX-License-Identifier: Apache-2.0
// Heavy: include from .cc files only.
#pragma once

#include <algorithm>
#include <string_view>

#include "io/http/http_link.h"
#include "io/http/http_server.h"
#include "io/message/input_buffer.h"
#include "io/stream.h"

namespace berth::io {

inline constexpr std::size_t kBodyBufferBytes = 64 * 1024;

/// A client's connection as its session sees it, and whatever the session lends it to: a relay, a
/// reply whose body is made while it is sent. Lives as long as the session. Loop thread only.
struct ClientEnd {
  StreamView stream;
  HttpLink& link;
  const HttpLimits& limits;
  InputBuffer input{};  ///< What has arrived and belongs to nobody yet.

  /// False: nothing will arrive any more, or the deadline passed first.
  Awaitable<bool> read_some(std::size_t capacity) {
    auto [error, size] = co_await stream.read_some(input.space(capacity));
    input.commit(size);
    co_return !error;
  }

  /// False: the client is gone, or took nothing for too long; the connection is cut.
  Awaitable<bool> write_all(std::string_view first, std::string_view second) {
    while (!first.empty() || !second.empty()) {
      link.set_deadline(limits.stall_timeout);
      auto [error, size] = co_await stream.write_some(first, second);
      if (error) {
        link.cut();
        co_return false;
      }
      const std::size_t of_first = std::min(size, first.size());
      first.remove_prefix(of_first);
      second.remove_prefix(size - of_first);
    }
    co_return true;
  }
};

}  // namespace berth::io
