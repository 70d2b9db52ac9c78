// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <memory>

#include "io/files/file.h"
#include "io/loop.h"
#include "io/offload.h"

namespace berth::cli {

/// While it lives, SIGINT and SIGTERM do not end the process but call back, on a thread of its own,
/// with how many there have been; several at once (`timeout` sends two) count as one. A request
/// that waits for the server is not disturbed.
class InterruptWatch {
 public:
  explicit InterruptWatch(std::function<void(int count)> interrupted);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  bool was_interrupted() const { return count_ > 0; }

 private:
  void watch();

  std::function<void(int)> interrupted_;
  std::atomic<int> count_ = 0;
  sigset_t before_{};
  io::Descriptor signals_{};
  io::Descriptor ending_{};
  io::Loop unused_{};  ///< The offload's: nothing comes back from watch().
  std::unique_ptr<io::ThreadOffload> thread_{};
};

}  // namespace berth::cli
