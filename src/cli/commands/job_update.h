// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "model/job.h"

namespace berth::cli {

Result<int> update_job(Context& context);
Result<int> archive_job(Context& context);
Result<int> restore_job(Context& context);

}  // namespace berth::cli
