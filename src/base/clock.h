// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

using Duration = std::chrono::milliseconds;

/// Wall-clock time, for people: created, started, ended. Never compared with a deadline.
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// Monotonic time, for leases, idle timers and timeouts. Meaningless in another process.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, std::chrono::milliseconds>;

struct Now {
  TimePoint mono{};
  WallTime wall{};
};

/// The only reader of a clock. Everything else takes time as an argument.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Now now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Now now() const override;
};

/// For tests: stands still until told to move.
class SimClock final : public Clock {
 public:
  Now now() const override { return now_; }
  void advance(Duration by) {
    now_.mono += by;
    now_.wall += by;
  }

 private:
  Now now_{.mono = TimePoint(Duration(1'000)), .wall = WallTime(Duration(1'700'000'000'000))};
};

/// Since this machine started, with the time it was suspended. The same in all its processes: for
/// deadlines that one process sets and another one keeps.
Duration since_boot();

/// "2026-11-16T00:45:12.345Z", as Azure writes times.
std::string to_iso8601(WallTime time);
Result<WallTime> wall_time_from_iso8601(std::string_view text);

/// "PT1H30M" <-> 5400 s. Days count 24 h; years and months are refused: they have no length.
std::string to_iso8601(std::chrono::seconds duration);
Result<std::chrono::seconds> seconds_from_iso8601(std::string_view text);

/// "Mon, 16 Nov 2026 00:45:12 GMT", as HTTP and the blob protocol write times.
std::string to_http_date(WallTime time);

}  // namespace berth
