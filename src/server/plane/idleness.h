// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/clock.h"
#include "core/schedule.h"
#include "core/state.h"

namespace berth::server {

/// Since when each node has had nothing to do. Kept event by event, so that nobody looks at all
/// nodes. Loop thread only.
class Idleness {
 public:
  Idleness(const core::State& state, const Clock& clock) : state_(state), clock_(clock) {}

  /// Before an event is applied, and after it.
  void before(const core::Event& event);
  void after(const core::Touched& touched);
  /// Nothing is known of anybody.
  void clear() { since_.clear(); }

  const core::IdleSince& since() const { return since_; }

 private:
  void note_members(const model::Job& job);
  void look_at(const model::NodeId& node);

  const core::State& state_;
  const Clock& clock_;
  core::IdleSince since_;
  std::vector<model::NodeId> concerned_;  ///< By the event that is being applied.
};

}  // namespace berth::server
