// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "io/message/http.h"

namespace berth::io {

/// The producer's end of a reply whose body is made while it is sent: server-sent events, a log
/// that is followed, an answer that is computed piece by piece.
///
///     auto writer = std::make_shared<BodyWriter>();
///     respond({.content_type = "text/event-stream", .stream = writer->body()});
///     writer->write("data: 1\n\n");
///
/// The client gets it in chunks (HTTP/1.0: until the connection closes). At most kRoom bytes wait
/// for a slow client. Destroyed without end(), it breaks the body off, so that the client sees that
/// something is missing. Loop thread only.
class BodyWriter {
 public:
  static constexpr std::size_t kRoom = 64 * 1024;

  BodyWriter();
  ~BodyWriter();
  BodyWriter(const BodyWriter&) = delete;
  BodyWriter& operator=(const BodyWriter&) = delete;

  /// For Reply::stream, of one reply. When that is dropped without being sent, the client is gone.
  std::shared_ptr<BodyPipe> body() const;

  std::size_t room() const;  ///< So many bytes can be written now; 0 once the client is gone.
  /// Takes as much as there is room for, and says how much that is.
  std::size_t write(std::string_view bytes);
  /// The body is complete. Nothing can be written after it.
  void end();
  bool is_gone() const;  ///< Nobody reads the body any more.

  // The callbacks may write, end, and let go of the writer. Each is dropped when nobody reads the
  // body any more, so that it may hold the writer.

  /// Called when a body that had no room left has some again.
  void when_room(std::function<void()> callback);
  /// Called once, now if it is too late, when the client is gone, or is not to have a body (HEAD).
  /// That a client sends no more counts as gone: of one who reads a body without end nothing else
  /// can be seen.
  void when_gone(std::function<void()> callback);
  /// Called once when the server drains. The producer has until the end of its grace to end().
  /// Without a callback the body is broken off then, and the client is gone.
  void when_draining(std::function<void()> callback);

 private:
  std::shared_ptr<BodyPipe> pipe_;
};

}  // namespace berth::io
