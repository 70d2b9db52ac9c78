// SPDX-License-Identifier: Apache-2.0
// Brings local files to the workspace. What is there already is not sent again.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/transfer/snapshot.h"

namespace berth::cli {

/// Uploads a folder or file as code. Returns the ARM id of the code version; empty when there is
/// nothing to upload.
Result<std::string> upload_code(Context& context, const std::string& path,
                                const SnapshotLimits& limits = {});

/// Uploads a folder or file as data and returns its azureml:// address.
Result<std::string> upload_data(Context& context, const std::string& path);

}  // namespace berth::cli
