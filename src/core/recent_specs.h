// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "model/job.h"

namespace berth::core {

/// Jobs that are alike often come one after the other: they share what was asked for, which is
/// most of what a queued job takes of the memory.
class RecentSpecs {
 public:
  void share(model::Job& job) {
    const auto same = std::ranges::find(recent_, job.spec);
    if (same != recent_.end()) {
      job.spec = *same;
    } else {
      recent_[next_++ % recent_.size()] = job.spec;
    }
  }

 private:
  std::array<Shared<model::JobSpec>, 4> recent_{};
  std::size_t next_ = 0;
};

}  // namespace berth::core
