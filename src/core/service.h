// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "model/job.h"

namespace berth::core {

struct Restart {
  int number = 1;  ///< Job::restarts from then on.
  WallTime not_before{};
  std::string reason{};
};

/// Whether the service is run again after an attempt that ended so, by itself. None: it is over.
std::optional<Restart> restart_of(const model::Job& job, const model::Outcome& outcome,
                                  WallTime now);

/// It need not wait any longer. A clock that was set back is not waited for.
bool is_due(const model::Job& job, WallTime now);

Status validate_service(const model::JobSpec& spec);

}  // namespace berth::core
