// SPDX-License-Identifier: Apache-2.0
// All that an agent decides. No I/O, no clock, no thread: `berth node` and the simulator run the
// same code, each with a shell of its own that carries the actions out.
#pragma once

#include <deque>
#include <utility>

#include "node/core/action.h"
#include "node/core/event.h"
#include "node/core/state.h"

namespace berth::node::core {

/// What is to be done now that this has happened. An event of an attempt that is unknown, or that
/// comes too late to matter, changes nothing.
Actions on(AgentState& state, Event event, const Moment& now);

/// Gives events to on() one after the other. A shell that carries an action out may feed the answer
/// at once: its turn comes when all actions before it are carried out. One thread.
template <typename Shell>  // Has `Moment now()` and `perform(const A&)` for every action A.
class Turns {
 public:
  Turns(AgentState& state, Shell& shell) : state_(state), shell_(shell) {}

  void feed(Event event) {
    events_.push_back(std::move(event));
    if (std::exchange(is_busy_, true)) return;
    while (!events_.empty()) {
      Event next = std::move(events_.front());
      events_.pop_front();
      for (const Action& action : on(state_, std::move(next), shell_.now())) {
        std::visit([this](const auto& one) { shell_.perform(one); }, action);
      }
    }
    is_busy_ = false;
  }

 private:
  AgentState& state_;
  Shell& shell_;
  std::deque<Event> events_{};
  bool is_busy_ = false;
};

}  // namespace berth::node::core
