// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/job.h"
#include "server/door/call.h"
#include "store/blob.h"

namespace berth::server {

/// The content of a blob from `first`, `length` bytes of it, as file ranges.
Result<std::vector<io::FileRange>> open_range(const io::ObjectStore& objects,
                                              const store::Blob& blob, std::uint64_t first,
                                              std::uint64_t length);

/// The job whose user_logs/std_log.txt this blob is, when the job is not over and the log still
/// grows: until then the live log stands in the blob's place.
std::optional<model::JobKey> growing_log(const Services& services, const store::BlobKey& key);

/// That log as a blob: size, times, content type. Not stored anywhere.
store::Blob blob_of_growing_log(const Services& services, const model::JobKey& job);

}  // namespace berth::server
