// SPDX-License-Identifier: Apache-2.0
// Heavy: include from .cc files only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "io/http/client_end.h"
#include "io/wake.h"

namespace berth::io {

/// What a BodyWriter and the session that sends its body share.
struct BodyPipe {
  std::string queued{};
  std::size_t leaving = 0;  ///< Bytes that the session has taken and not yet sent.
  bool is_ended = false;
  bool is_broken = false;  ///< The writer went without ending it.
  bool is_gone = false;
  bool is_sent = false;  ///< To the last byte.
  bool was_full = false;
  std::function<void()> on_room{};
  std::function<void()> on_gone{};
  std::function<void()> on_draining{};
  Wake wake{};  ///< Rings for the session: there is something to do.

  std::size_t held() const { return queued.size() + leaving; }
  /// Nobody reads any more. Tells the producer, once.
  void set_gone();
  void drain();
  void drop();  ///< The reply is gone, sent or not.
};

/// How a streamed body is sent.
struct StreamedReply {
  std::shared_ptr<BodyPipe> pipe;
  std::string head;          ///< Sent first.
  bool is_chunked = true;    ///< Else it ends with the connection.
  bool is_draining = false;  ///< The server, already.
};

/// Sends the body as it is made. False: the connection is cut, for the body is not complete.
Awaitable<bool> send_stream(ClientEnd& client, StreamedReply reply);

}  // namespace berth::io
