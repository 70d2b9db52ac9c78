// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace berth::io {

struct CommandRequest {
  std::vector<std::string> command{};                ///< argv; found by PATH; never a shell.
  std::map<std::string, std::string> environment{};  ///< The whole of it.
  std::string input{};                               ///< stdin; no file of it is ever named.
  Duration time_limit = std::chrono::seconds(30);
  std::size_t output_limit = 16u << 20;  ///< Of each stream.
};

struct CommandOutput {
  int exit_code = 0;  ///< 128 + signal when one ended it.
  std::string out{};
  std::string error{};
};

/// Runs a short command to its end and takes what it prints. Blocks. Unavailable when it does not
/// end in time, TooLarge when it prints too much: it and its process group are killed then.
/// NotFound when there is no such command. Any exit code is an answer, not an error.
Result<CommandOutput> run_command(const CommandRequest& request);

}  // namespace berth::io
