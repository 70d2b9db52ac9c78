// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "model/job.h"

namespace berth::core {

struct Verdict {
  model::JobStatus status = model::JobStatus::Failed;
  std::optional<model::JobError> error{};
};

/// What the end of its attempt makes of a job, and how to say it. A job that finished by itself
/// before a cancel reached it keeps its own ending.
Verdict judge(const model::Job& job, const model::Outcome& outcome);

/// How an attempt ended whose members have all ended: the first failure, or that it was stopped, or
/// success. Of an MPI job the head speaks for all, since the others only hold its processes.
model::Outcome combine(const model::Job& job);

/// Whether the attempt was taken from the job, so that it runs again instead of ending: a node was
/// lost, or it was stopped to make room. Never after a cancel.
bool was_taken(const model::Job& job);

/// The members that must be stopped because the attempt can no longer succeed, or needs them no
/// more.
std::vector<model::NodeId> members_to_stop(const model::Job& job);

}  // namespace berth::core
