// SPDX-License-Identifier: Apache-2.0
// Which attempt of a job somebody speaks of.
#pragma once

#include "core/state.h"
#include "wire/node/message.h"

namespace berth::server {

/// The one that goes on, or was the last.
inline wire::node::AttemptRef attempt_of(const model::Job& job) {
  return {.job = job.key, .attempt = job.attempt, .fence = job.fence};
}

/// A node of an earlier version says only the number.
inline bool is_current(const model::Job& job, const wire::node::AttemptRef& attempt) {
  return job.key == attempt.job && job.attempt == attempt.attempt &&
         (attempt.fence.empty() || job.fence == attempt.fence);
}

/// The attempt goes on in that compute's engine, or is to; nullptr: it is not wanted there.
inline const model::EngineRun* engine_run(const core::State& state,
                                          const model::ComputeKey& compute,
                                          const wire::node::AttemptRef& attempt) {
  const auto found = state.jobs.find(attempt.job);
  if (found == state.jobs.end() || !is_current(found->second, attempt)) return nullptr;
  if (core::target_of(found->second) != model::TargetId{compute}) return nullptr;
  return engine_run_of(found->second);
}

/// The attempt goes on, and the node's share of it is not over.
inline bool holds(const core::State& state, const model::NodeId& node,
                  const wire::node::AttemptRef& attempt) {
  const auto found = state.jobs.find(attempt.job);
  if (found == state.jobs.end() || !is_current(found->second, attempt)) return false;
  const model::Member* member = model::find_member(found->second, node);
  return member != nullptr && !member->outcome;
}

}  // namespace berth::server
