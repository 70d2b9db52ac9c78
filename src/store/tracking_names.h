// SPDX-License-Identifier: Apache-2.0
// Names with a meaning of their own among what is logged.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/random.h"

namespace berth::store {

// Tags that are columns of the run: written there, searched there, and shown among the others.
inline constexpr const char* kNameTag = "mlflow.runName";
inline constexpr const char* kUserTag = "mlflow.user";

inline constexpr const char* kParentTag = "mlflow.parentRunId";
inline constexpr const char* kDatasetContextTag = "mlflow.data.context";

/// Eighteen digits, as MLflow's own: never used again, whatever is deleted.
inline std::string new_experiment_id() {
  return fmt::format("{}", 100'000'000'000'000'000 + random_below(800'000'000'000'000'000));
}

}  // namespace berth::store
