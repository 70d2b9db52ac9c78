// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.h"

namespace berth::cli {

/// berth server configure.
Result<int> configure_server(Context& context);
std::span<const Flag> configure_server_flags();

}  // namespace berth::cli
