// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "base/clock.h"
#include "base/result.h"
#include "model/tracking.h"
#include "store/tracking.h"

namespace berth::server {

/// Keeps runs from growing without end: whoever shows a run shows all of it but the points of its
/// metrics. Counts what is logged to those that are written to; what replaces something is counted
/// as more until a look at the disk puts it right, and that happens seldom. Loop thread only.
class RunRoom {
 public:
  static constexpr std::size_t kMostBytes = 8u << 20;

  /// InvalidArgument: the run has no room for so much more.
  Status take(store::Tracking& tracking, const model::RunKey& run, std::size_t bytes,
              TimePoint now);

 private:
  struct Seen {
    std::size_t bytes = 0;
    TimePoint looked_at{};
  };
  std::map<model::RunKey, Seen> runs_;
};

/// About as much as an answer shows of it.
std::size_t bytes_of(const store::LogToRun& change);

}  // namespace berth::server
