// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "server/door/call.h"

namespace berth::server {

/// Answers startPendingUpload: a fresh folder of workspaceblobstore, and a signed URL with which
/// its holder may fill that folder and nothing else. The URL names the folder as if it were a
/// container, which is all that storage clients want to know.
Result<io::Reply> start_pending_upload(Call& call);

}  // namespace berth::server
