// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/job.h"

namespace berth::core {

struct Verdict {
  model::JobStatus status = model::JobStatus::Failed;
  std::optional<model::JobError> error{};
};

/// What the end of its attempt makes of a job, and how to say it. A job that finished by itself
/// before a cancel reached it keeps its own ending.
Verdict judge(const model::Job& job, const model::Outcome& outcome);

}  // namespace berth::core
