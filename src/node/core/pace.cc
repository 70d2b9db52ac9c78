// SPDX-License-Identifier: Apache-2.0
#include "node/core/pace.h"

namespace berth::node::core {
namespace {

constexpr int kRow = 4;    // For each slot; fewer may be chance.
constexpr int kAhead = 2;  // For each slot: one that is on its way, one that is here.

}  // namespace

int Pace::ahead() const {
  if (row_ < kRow * slots_) return 0;
  // A node of one slot is one of a cluster: who waits here may find another one free a moment
  // later.
  return slots_ == 1 ? 1 : slots_ * kAhead;
}

void Pace::ended(Duration ran) { row_ = ran <= kShortAttempt ? row_ + 1 : 0; }

void Pace::look(std::optional<Duration> longest) {
  if (!longest || *longest > kShortAttempt) row_ = 0;
}

}  // namespace berth::node::core
