// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/client.h"
#include "cli/command.h"

namespace berth::cli {

/// Follows a job's log from its first byte until the job is over and all of it was handed over, in
/// order and once. Outlives restarts of the server. Fails with the error of `write`, if that fails.
Status follow_log(Client& client, const Console& console, const std::string& job,
                  const std::function<Status(std::string_view)>& write);

/// follow_log() to stdout: the very bytes, or what a terminal can be trusted with.
struct Shown {
  bool ends_in_newline = true;
};
Result<Shown> show_log(Context& context, const std::string& job);

/// What `az ml job stream` prints around the log.
Status stream_job(Context& context, const std::string& job, const std::string& web_view);

}  // namespace berth::cli
