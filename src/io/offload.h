// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "io/loop.h"

namespace berth::io {

/// Runs functions that may block away from the loop, and what they return back on it.
class Offload {
 public:
  using Continuation = std::function<void()>;
  virtual ~Offload() = default;
  virtual void run(std::function<Continuation()> blocking) = 0;
};

/// A few threads, first come first served. Joined by the destructor; work not begun is dropped.
class ThreadOffload final : public Offload {
 public:
  ThreadOffload(Loop& loop, unsigned threads);
  ~ThreadOffload() override;
  void run(std::function<Continuation()> blocking) override;

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

/// Runs everything at once on the caller's thread. For tests.
class InlineOffload final : public Offload {
 public:
  void run(std::function<Continuation()> blocking) override {
    if (Continuation then = blocking()) then();
  }
};

}  // namespace berth::io
