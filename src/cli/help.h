// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace berth::cli {

/// What `berth` alone prints: what it is, how to start, the groups of commands.
std::string guide(std::span<const Command> commands);

/// The commands of a group: `berth job`.
std::string group_help(std::string_view group, std::span<const Command> commands);

std::string command_help(const Command& command);

/// "usage: berth job show [-n] NAME …", one line.
std::string usage_line(const Command& command);

}  // namespace berth::cli
