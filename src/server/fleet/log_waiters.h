// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "base/clock.h"
#include "model/job.h"

namespace berth::server {

/// Readers that have seen a job's log to its present end and want to know what comes.
///
/// Loop thread only. The server calls wake() when a log has grown or its job has changed, and
/// expire() every now and then.
class LogWaiters {
 public:
  /// Answers the reader and returns true, or returns false when there is nothing to say yet. At the
  /// last chance it answers in any case.
  using Answer = std::function<bool(bool is_last_chance)>;

  void add(const model::JobKey& job, TimePoint deadline, Answer answer);
  void wake(const model::JobKey& job);
  void expire(TimePoint now);
  /// Answers everybody: the server stops.
  void release_all();

  std::size_t size() const { return waiters_.size(); }

 private:
  struct Waiter {
    TimePoint deadline{};
    Answer answer{};
  };
  void answer_where(const std::function<bool(const Waiter&)>& is_due);

  std::multimap<model::JobKey, Waiter> waiters_;
};

}  // namespace berth::server
