// SPDX-License-Identifier: Apache-2.0
#include "base/back_off.h"

#include <algorithm>
#include <cstdint>

namespace berth {

Duration BackOff::pause_after(int failures) const {
  // A millisecond has become twelve days by then, and a day has not become too much for a Duration.
  constexpr int kMostDoublings = 30;
  const int doublings = std::clamp(failures, 1, kMostDoublings + 1) - 1;
  return std::min(first * (std::int64_t{1} << doublings), longest);
}

}  // namespace berth
