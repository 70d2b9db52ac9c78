// SPDX-License-Identifier: Apache-2.0
// States for tests, built by the events that would have led to them.
#pragma once

#include <string>
#include <utility>

#include "core/state.h"

namespace berth::core::sample {

inline const model::WorkspaceId kWorkspace{"w"};

inline model::JobKey key(const std::string& name) { return {kWorkspace, name}; }

inline WallTime at(int second) { return WallTime(std::chrono::seconds(second)); }

/// Submits a job as the next in the sequence.
inline void submit(State& state, const std::string& name, model::JobSpec spec = {}) {
  static std::int64_t sequence = 0;
  spec.command = "true";
  apply_event(state,
              JobSubmitted{{.key = key(name), .sequence = ++sequence, .spec = std::move(spec)}});
}

/// A node of the target 'local' that is connected.
inline void join(State& state, const std::string& node, int slots) {
  apply_event(state, NodeRequested{{.id = {node}, .slots = slots}});
  apply_event(state, NodeJoined{.node = {node}, .slots = slots, .work_root = "/work"});
}

inline void place(State& state, const std::string& job, const std::string& node, int second = 1) {
  apply_event(state, JobPlaced{.job = key(job), .node = {node}, .at = at(second)});
}

}  // namespace berth::core::sample
