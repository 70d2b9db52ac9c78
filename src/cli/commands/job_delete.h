// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "cli/command.h"

namespace berth::cli {

inline constexpr Flag kJobDeleteFlags[] = {
    {"-n,--name,NAME", Takes::Several, "NAME", "the jobs, by name"},
    {"--older-than", Takes::Value, "TIME", "those that ended longer ago: 30d, 12h"},
    {"--status", Takes::Several, "STATUS", "those that are Completed, Failed or Canceled"},
    {"--tag", Takes::Value, "KEY[=VALUE]", "those with this tag"},
    {"--experiment", Takes::Value, "NAME", "those of this experiment"},
    {"--all", Takes::Nothing, "", "all that are over"},
    {"--cancel", Takes::Nothing, "", "cancel the named ones that are not over, and wait for that"},
    {"--dry-run", Takes::Nothing, "", "only show what would go"},
    {"-y,--yes", Takes::Nothing, "", "do not ask"},
};

Result<int> delete_jobs(Context& context);

}  // namespace berth::cli
