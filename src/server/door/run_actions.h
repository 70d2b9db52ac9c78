// SPDX-License-Identifier: Apache-2.0
// What may be done with experiments and runs, as roles name it.
#pragma once

namespace berth::server {

inline constexpr const char* kReadRuns =
    "Microsoft.MachineLearningServices/workspaces/experiments/runs/read";
/// Making runs, and logging to them.
inline constexpr const char* kWriteRuns =
    "Microsoft.MachineLearningServices/workspaces/experiments/runs/write";
inline constexpr const char* kDeleteRuns =
    "Microsoft.MachineLearningServices/workspaces/experiments/runs/delete";

}  // namespace berth::server
