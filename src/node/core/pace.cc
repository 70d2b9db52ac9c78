// SPDX-License-Identifier: Apache-2.0
#include "node/core/pace.h"

namespace berth::node::core {
namespace {

constexpr int kRow = 4;    // For each slot; fewer may be chance.
constexpr int kAhead = 2;  // For each slot: one that is on its way, one that is here.

}  // namespace

int Pace::ahead() const {
  // A node of one slot is a machine of its own: whoever waits is better off on another.
  return slots_ > 1 && row_ >= kRow * slots_ ? slots_ * kAhead : 0;
}

void Pace::ended(Duration ran) { row_ = ran <= kShortAttempt ? row_ + 1 : 0; }

void Pace::look(std::optional<Duration> longest) {
  if (!longest || *longest > kShortAttempt) row_ = 0;
}

}  // namespace berth::node::core
