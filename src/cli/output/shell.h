// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace berth::cli {

enum class Shell { Posix, Fish, PowerShell, Dotenv };

/// The value of --shell. The message of a failure lists what there is.
Result<Shell> shell_from(std::string_view name);

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Lines that, evaluated by the shell, set these variables for it and its children.
std::string assignments(const Variables& variables, Shell shell);

}  // namespace berth::cli
