// SPDX-License-Identifier: Apache-2.0
// Heavy: include from .cc files only.
#pragma once

#include <functional>
#include <memory>

#include "io/http/client_end.h"
#include "io/wake.h"

namespace berth::io {

/// Notices that a client has gone while something else writes to it. What the client sends
/// meanwhile, its next requests, stays in the client's input; with a head's worth of it there, the
/// watch ends, for what comes behind it cannot be seen. Loop thread only.
class ClientWatch {
 public:
  enum class End {
    Closed,  ///< It sends no more; it may still read.
    Broken,
  };

  explicit ClientWatch(ClientEnd& client) : client_(client) {}

  bool has_begun() const { return state_ != nullptr; }
  void start(std::function<void(End)> on_end);
  /// To be awaited before anybody else reads from the client, and before this object goes. Nothing
  /// else may be pending on the client's stream.
  Awaitable<void> stop();

 private:
  struct State {
    std::function<void(End)> on_end{};
    std::shared_ptr<Wake> ended = std::make_shared<Wake>();
    bool is_over = false;
  };
  static Awaitable<void> watch(ClientEnd& client, std::shared_ptr<State> state);

  ClientEnd& client_;
  std::shared_ptr<State> state_{};
};

}  // namespace berth::io
