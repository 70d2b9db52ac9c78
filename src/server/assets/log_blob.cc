// SPDX-License-Identifier: Apache-2.0
#include "server/assets/log_blob.h"

#include <fmt/format.h>

namespace berth::server {

store::BlobKey log_blob(const model::JobKey& job) {
  return {job.workspace, "azureml", model::artifact_prefix(job) + "user_logs/std_log.txt"};
}

store::BlobKey attempt_log_blob(const model::JobKey& job, int attempt) {
  return {job.workspace, "azureml",
          fmt::format("{}user_logs/std_log_attempt_{}.txt", model::artifact_prefix(job), attempt)};
}

}  // namespace berth::server
