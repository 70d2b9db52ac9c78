// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/log_waiters.h"

namespace berth::server {

void LogWaiters::add(const model::JobKey& job, TimePoint deadline, Answer answer) {
  waiters_.emplace(job, Waiter{deadline, std::move(answer)});
}

// Waiters are taken out before they answer: an answer may let the same client ask again at once.
void LogWaiters::wake(const model::JobKey& job) {
  const auto [first, last] = waiters_.equal_range(job);
  std::vector<Waiter> woken;
  for (auto waiter = first; waiter != last; ++waiter) woken.push_back(std::move(waiter->second));
  waiters_.erase(first, last);
  for (Waiter& waiter : woken) {
    if (!waiter.answer(false)) waiters_.emplace(job, std::move(waiter));
  }
}

void LogWaiters::expire(TimePoint now) {
  answer_where([now](const Waiter& waiter) { return waiter.deadline <= now; });
}

void LogWaiters::release_all() {
  answer_where([](const Waiter&) { return true; });
}

void LogWaiters::answer_where(const std::function<bool(const Waiter&)>& is_due) {
  std::vector<Waiter> due;
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    if (is_due(waiter->second)) {
      due.push_back(std::move(waiter->second));
      waiter = waiters_.erase(waiter);
    } else {
      ++waiter;
    }
  }
  for (const Waiter& waiter : due) waiter.answer(true);
}

}  // namespace berth::server
