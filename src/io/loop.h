// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"

namespace boost::asio {
class io_context;
}

namespace berth::io {

/// One thread's event loop. The thread that calls run() owns whatever its callbacks touch.
class Loop {
 public:
  using Work = std::function<void()>;
  using TimerId = std::uint64_t;

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void post(Work work);  ///< From any thread; runs after what was posted before.
  void run();            ///< Until stop().
  void stop();           ///< From any thread.

  /// Runs the work once, after the delay, on the loop. cancel() of a timer that has fired or was
  /// never set does nothing. Both from the loop's thread only.
  TimerId after(Duration delay, Work work);
  void cancel(TimerId timer);

  /// Calls back on the loop when one of these signals arrives (SIGTERM, SIGINT, SIGCHLD …).
  void on_signal(std::initializer_list<int> signals, std::function<void(int)> callback);

  /// Calls back, once per readiness, for as long as the descriptor is watched and readable (a
  /// pidfd, an inotify or pipe descriptor). The caller keeps the descriptor open until unwatch().
  void watch_readable(int descriptor, Work work);
  void unwatch(int descriptor);

  boost::asio::io_context& context();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::io
