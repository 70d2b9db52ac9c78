// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/job.h"
#include "store/blob.h"

namespace berth::server {

/// Where a job's log is, once it is a blob.
store::BlobKey log_blob(const model::JobKey& job);
/// Where the log of an attempt lies that was taken from the job, which then ran again.
store::BlobKey attempt_log_blob(const model::JobKey& job, int attempt);

}  // namespace berth::server
