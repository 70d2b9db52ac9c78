// SPDX-License-Identifier: Apache-2.0
// The limits that a job asks for in Docker's words.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "model/job.h"

namespace berth::core {

struct DockerLimits {
  std::optional<std::uint64_t> memory{};         ///< Bytes: --memory 512m, -m 512m.
  std::optional<std::uint64_t> processes{};      ///< --pids-limit 64.
  std::optional<std::uint64_t> shared_memory{};  ///< Bytes: shm_size, or --shm-size 2g.
};

/// Reads `resources.docker_args` and `resources.shm_size`. As in Docker the last of two counts, and
/// 0 is no limit. What is no number or does not fit is an error that names the flag; flags that say
/// nothing about limits are skipped.
Result<DockerLimits> docker_limits(const model::JobResources& resources);

}  // namespace berth::core
