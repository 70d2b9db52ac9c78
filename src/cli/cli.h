// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "cli/output/console.h"
#include "cli/place.h"

namespace berth::cli {

/// The command line, without the program's name. Returns the process's exit status: 0 done, 1
/// failed, 2 wrong usage; `berth run` ends with the job's own.
int run(std::span<const std::string> words);

/// The same for any console and place.
int run(std::span<const std::string> words, Console console, const Result<Place>& place);

}  // namespace berth::cli
