// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "model/job.h"

namespace berth::cli {

Result<int> update_job(Context& context);
Result<int> archive_job(Context& context);
Result<int> restore_job(Context& context);

/// Applies "tags.k=v" and the like; refuses what cannot change after the submit.
Status change(model::Job& job, const std::string& assignment);

}  // namespace berth::cli
