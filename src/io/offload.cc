// SPDX-License-Identifier: Apache-2.0
#include "io/offload.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace berth::io {

struct ThreadOffload::Pool {
  explicit Pool(Loop& results) : loop(results) {}

  void work(const std::stop_token& stop);

  Loop& loop;
  std::mutex mutex{};
  std::condition_variable_any wake{};
  std::deque<std::function<Continuation()>> queue{};
  std::vector<std::jthread> threads{};  // Last: joined before what they use is gone.
};

void ThreadOffload::Pool::work(const std::stop_token& stop) {
  for (;;) {
    std::function<Continuation()> blocking;
    {
      std::unique_lock lock(mutex);
      if (!wake.wait(lock, stop, [this] { return !queue.empty(); })) return;
      if (stop.stop_requested()) return;
      blocking = std::move(queue.front());
      queue.pop_front();
    }
    Continuation then = blocking();
    // What the function holds dies before the loop goes on, so never after it on another thread.
    blocking = nullptr;
    if (then) loop.post(std::move(then));
  }
}

ThreadOffload::ThreadOffload(Loop& loop, unsigned threads) : pool_(std::make_unique<Pool>(loop)) {
  for (unsigned i = 0; i < std::max(threads, 1u); ++i) {
    Pool* const pool = pool_.get();
    pool->threads.emplace_back([pool](const std::stop_token& stop) { pool->work(stop); });
  }
}

ThreadOffload::~ThreadOffload() {
  // All at once, so that none goes on taking work while another is joined.
  for (std::jthread& thread : pool_->threads) thread.request_stop();
}

void ThreadOffload::run(std::function<Continuation()> blocking) {
  {
    const std::lock_guard lock(pool_->mutex);
    pool_->queue.push_back(std::move(blocking));
  }
  pool_->wake.notify_one();
}

}  // namespace berth::io
