// SPDX-License-Identifier: Apache-2.0
// Heavy: include from .cc files only.
#pragma once

#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "io/stream.h"

namespace berth::io {

/// One coroutine waits until somebody rings. A ring that comes first is remembered; several are
/// one. Loop thread only.
class Wake {
 public:
  void ring() {
    has_rung_ = true;
    if (const auto waiting = std::exchange(resume_, nullptr)) waiting();
  }

  Awaitable<void> wait() {
    if (!has_rung_) {
      co_await asio::async_initiate<const asio::use_awaitable_t<Executor>, void()>(
          [this](auto handler) { resume_ = resume_later(std::move(handler)); },
          asio::use_awaitable_t<Executor>{});
    }
    has_rung_ = false;
  }

  /// Nobody will ring any more: unwinds the coroutine that waits, if one does. That may be the end
  /// of this object.
  void abandon() { const auto unwound = std::exchange(resume_, nullptr); }

 private:
  // Posted, never resumed in place: whoever rings is still on the stack.
  template <typename Handler>
  static std::function<void()> resume_later(Handler handler) {
    return [shared = std::make_shared<Handler>(std::move(handler))] {
      asio::post(std::move(*shared));
    };
  }

  bool has_rung_ = false;
  std::function<void()> resume_{};
};

/// Held by a coroutine whose end another waits for. When the loop goes, whichever of the two is
/// destroyed first, both are.
class RingsAtEnd {
 public:
  explicit RingsAtEnd(std::shared_ptr<Wake> wake) : wake_(std::move(wake)) {}
  RingsAtEnd(const RingsAtEnd&) = delete;
  RingsAtEnd& operator=(const RingsAtEnd&) = delete;
  ~RingsAtEnd() { wake_->abandon(); }

  void ring() const { wake_->ring(); }

 private:
  std::shared_ptr<Wake> wake_;
};

}  // namespace berth::io
