// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "io/files/file.h"
#include "io/loop.h"
#include "node/outbox.h"

namespace berth::node {

/// Sends a job's log as it grows, from where the server's copy ends, never holding more than a
/// chunk of it: the file is the buffer. Loop thread only.
class LogShipper {
 public:
  LogShipper(io::Loop& loop, Outbox& outbox, wire::node::AttemptRef attempt, std::string path);
  ~LogShipper();
  LogShipper(const LogShipper&) = delete;
  LogShipper& operator=(const LogShipper&) = delete;

  /// The server cannot have any of it: no need to ask.
  void begin_at_start();
  /// There is a connection (again): asks how much the server has.
  void connected();
  void disconnected();
  void stored(std::uint64_t size);
  /// The file grows no more; calls back, once, when the server has all of it.
  void finish(std::function<void()> done);
  /// The rest of it stays here: `done` is not called any more.
  void give_up();
  std::uint64_t size() const;  ///< Of the file, now.
  std::uint64_t stored_size() const { return stored_.value_or(0); }
  void close() { file_.reset(); }

 private:
  void pump();
  bool send_next(std::uint64_t size);
  void pump_after(Duration pause);

  io::Loop& loop_;
  Outbox& outbox_;
  wire::node::AttemptRef attempt_;
  std::string path_;
  mutable io::Descriptor file_{};
  std::optional<std::uint64_t> stored_{};  ///< Unknown until the server has said it.
  std::uint64_t sent_ = 0;
  int unanswered_ = 0;
  Duration pause_;
  std::optional<io::Loop::TimerId> timer_{};
  std::function<void()> done_{};
  bool has_given_up_ = false;
};

}  // namespace berth::node
