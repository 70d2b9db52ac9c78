// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "model/job.h"
#include "store/store.h"

namespace berth::server {

/// The rows that register a completed job's named outputs as data or models. A version that is
/// taken, or a model without files, is not registered and becomes a warning of the job: the work
/// itself succeeded.
struct RegisteredOutputs {
  store::Batch rows{};
  std::vector<std::string> warnings{};
};
RegisteredOutputs register_outputs(store::Store& store, const model::Job& job, WallTime now);

}  // namespace berth::server
