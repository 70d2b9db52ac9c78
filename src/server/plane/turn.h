// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "core/state.h"
#include "server/plane/control_plane.h"
#include "store/store.h"

namespace berth::server {

/// One batch on its way to disk, and what waits for it.
struct ControlPlane::Turn {
  store::Batch batch;
  core::Touched touched;
  std::set<model::JobKey> ended;
  std::vector<model::JobKey> deleted;  ///< Over before, and gone with this.
  std::vector<std::function<void()>> effects;
  std::vector<std::function<void(Status)>> waiters;
  TimePoint handed_over{};  ///< To the store.
};

/// The one that goes on, or was the last.
inline wire::node::AttemptRef attempt_of(const model::Job& job) {
  return {.job = job.key, .attempt = job.attempt, .fence = job.fence};
}

}  // namespace berth::server
