// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/caught.h"
#include "io/offload.h"
#include "io/stream.h"

namespace berth::io {

/// One value on its way from a callback to the coroutine that waits for it, both on the loop's
/// thread. The callback may come first, later, or never.
template <typename T>
class Delivery {
 public:
  /// The first call counts. When every copy is gone without a call, wait() gives nothing.
  std::function<void(T)> sender() {
    return [sending = std::make_shared<Sending>(slot_)](T value) {
      Slot& slot = *sending->slot;
      if (slot.over) return;
      slot.value = std::move(value);
      slot.finish();
    };
  }

  Awaitable<std::optional<T>> wait() {
    const std::shared_ptr<Slot> slot = slot_;
    if (!slot->over) {
      // A plain pointer: g++ 12 destroys what a temporary in a co_await captures once too often.
      co_await asio::async_initiate<const asio::use_awaitable_t<Executor>, void()>(
          [waiting = slot.get()](auto handler) {
            waiting->resume = resume_later(std::move(handler));
          },
          asio::use_awaitable_t<Executor>{});
    }
    co_return std::move(slot->value);
  }

  /// Unwinds the coroutine that waits, if one does.
  void abandon() {
    slot_->over = true;
    slot_->resume = nullptr;
  }

 private:
  struct Slot {
    std::optional<T> value{};
    bool over = false;
    std::function<void()> resume{};

    void finish() {
      over = true;
      if (auto waiting = std::exchange(resume, nullptr)) waiting();
    }
  };
  struct Sending {
    explicit Sending(std::shared_ptr<Slot> to) : slot(std::move(to)) {}
    Sending(const Sending&) = delete;
    Sending& operator=(const Sending&) = delete;
    ~Sending() {
      if (!slot->over) slot->finish();
    }
    std::shared_ptr<Slot> slot;
  };

  // Posted, never resumed in place: the callback's own caller is still on the stack.
  template <typename Handler>
  static std::function<void()> resume_later(Handler handler) {
    return [shared = std::make_shared<Handler>(std::move(handler))] {
      asio::post(std::move(*shared));
    };
  }

  std::shared_ptr<Slot> slot_ = std::make_shared<Slot>();
};

/// Starts work that may block on the offload; its result is delivered on the loop. Nothing is
/// delivered when the offload is shut down first.
template <typename T>
Delivery<T> start_blocking(Offload& offload, std::function<T()> work) {
  Delivery<T> delivery;
  offload.run([deliver = delivery.sender(), work = std::move(work)]() -> Offload::Continuation {
    std::shared_ptr<T> result;
    const Status done = caught("work off the loop", [&] { result = std::make_shared<T>(work()); });
    // Without a result it is dropped, which must happen on the loop as well.
    if (!done) return [deliver] {};
    return [deliver, result] { deliver(std::move(*result)); };
  });
  return delivery;
}

}  // namespace berth::io
