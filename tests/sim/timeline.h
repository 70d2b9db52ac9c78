// SPDX-License-Identifier: Apache-2.0
// Time, chance and memory of a simulated world: all of it in one thread, and the same for the same
// seed.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "base/clock.h"

namespace berth::sim {

/// SplitMix64: the same numbers on every machine, which the standard's distributions do not
/// promise.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }
  int below(int bound) { return static_cast<int>(next() % static_cast<std::uint64_t>(bound)); }
  bool chance(int percent) { return below(100) < percent; }
  Duration between(Duration least, Duration most) {
    return least + Duration(below(static_cast<int>((most - least).count()) + 1));
  }

 private:
  std::uint64_t state_;
};

/// What a wall clock shows at the beginning of every world.
inline constexpr Duration kEpoch(1'700'000'000'000);

/// What is going to happen, in order of time and then of when it was decided.
class Timeline {
 public:
  using Work = std::function<void()>;

  Duration now() const { return now_; }
  void after(Duration delay, Work work) { at(now_ + delay, std::move(work)); }
  void at(Duration time, Work work) {
    entries_.push({std::max(time, now_), next_++, std::move(work)});
  }
  /// Does what comes next; false: nothing will ever happen again.
  bool step() {
    if (entries_.empty()) return false;
    // The queue only shows its first entry as const, and nobody else sees it any more.
    Work work = std::move(const_cast<Entry&>(entries_.top()).work);
    now_ = entries_.top().time;
    entries_.pop();
    work();
    return true;
  }

 private:
  struct Entry {
    Duration time{};
    std::uint64_t order = 0;
    Work work{};

    bool operator<(const Entry& other) const {
      return std::tie(other.time, other.order) < std::tie(time, order);
    }
  };

  Duration now_{0};
  std::uint64_t next_ = 0;
  std::priority_queue<Entry> entries_;
};

/// One process's view of time: its monotonic clock begins anywhere, the wall clock jumps.
class WorldClock final : public Clock {
 public:
  WorldClock(const Timeline& timeline, const Duration& wall_offset, Duration begins_at)
      : timeline_(timeline), wall_offset_(wall_offset), begins_at_(begins_at) {}

  Now now() const override {
    return {.mono = TimePoint(begins_at_ + timeline_.now()),
            .wall = WallTime(kEpoch + timeline_.now() + wall_offset_)};
  }

 private:
  const Timeline& timeline_;
  const Duration& wall_offset_;
  Duration begins_at_;
};

/// The last things that happened, for whoever has to find out why.
class Journal {
 public:
  struct Entry {
    Duration at{};
    const char* what = "";
    std::string who{};
    std::string whose{};
    int number = 0;
  };

  void note(Duration at, const char* what, std::string who, std::string whose, int number) {
    ++count_;
    entries_.push_back({at, what, std::move(who), std::move(whose), number});
    if (entries_.size() > kKept) entries_.pop_front();
  }
  const std::deque<Entry>& entries() const { return entries_; }
  std::uint64_t count() const { return count_; }
  std::string text() const;

 private:
  static constexpr std::size_t kKept = 400;

  std::deque<Entry> entries_{};
  std::uint64_t count_ = 0;
};

}  // namespace berth::sim
