// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/clock.h"

namespace berth::node::core {

/// An attempt that takes less is over before a node that asks for the next one has it.
inline constexpr Duration kShortAttempt(100);

/// How many attempts a node should have at hand beyond those that it runs: after a row of short
/// ones some wait here for their turn, so that none of its slots waits for the server.
class Pace {
 public:
  explicit Pace(int slots) : slots_(slots) {}

  int ahead() const;
  /// An attempt is over, and ran for so long.
  void ended(Duration ran);
  /// The longest of those that run has done so for `longest`; none: nothing runs.
  void look(std::optional<Duration> longest);
  void reset() { row_ = 0; }

 private:
  int slots_;
  int row_ = 0;  ///< Of short ones.
};

}  // namespace berth::node::core
