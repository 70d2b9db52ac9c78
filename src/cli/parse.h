// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "cli/command.h"

namespace berth::cli {

/// Reads a command's words by its flags and the global ones. Failures are the user's: unknown flags
/// (with the nearest known one), missing values, words that belong to nothing.
Result<Arguments> parse(const Command& command, std::span<const std::string> words);

}  // namespace berth::cli
