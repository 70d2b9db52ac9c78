// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/result.h"
#include "cli/command.h"

namespace berth::cli {

Result<int> create_job(Context& context);
Result<int> validate_job(Context& context);

/// What a summary of one job shows.
std::span<const Column> job_summary();

}  // namespace berth::cli
