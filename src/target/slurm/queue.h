// SPDX-License-Identifier: Apache-2.0
// What squeue prints, read. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "target/node_provider.h"

namespace berth::target::slurm {

/// squeue's --format that parse_queue() reads.
inline constexpr const char* kQueueFormat = "%i|%T|%j|%r";

struct QueuedJob {
  std::string id{};
  std::string state{};
  std::string name{};
  std::string reason{};
};

/// Every line must be one that squeue could have printed: text that is not is an error, since a job
/// that is missing from it would look like one that is gone.
Result<std::vector<QueuedJob>> parse_queue(std::string_view text);

/// A state this version does not know counts as there: only what has certainly ended is Gone.
Liveness liveness_of(std::string_view state);

/// The nodes among the jobs, each once: with the job that is there, if one is.
std::vector<ObservedNode> nodes_among(const std::vector<QueuedJob>& jobs, std::string_view prefix);

}  // namespace berth::target::slurm
