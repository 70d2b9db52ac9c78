// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"

namespace berth {

/// How long to wait before something that has failed is tried again: `first` after one failure,
/// twice as long after each one more, and never longer than `longest`.
struct BackOff {
  Duration first{};
  Duration longest{};

  /// `failures` is how many there were in a row, this one included; less than one counts as one.
  Duration pause_after(int failures) const;
};

}  // namespace berth
