// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "cli/place.h"
#include "model/workspace.h"

namespace berth::cli {

/// Subscription, resource group and workspace that a command is about, the first of: its flags, the
/// variables AZURE_DEFAULTS_*, those that `berth env` sets, `berth configure`, and what is there
/// from the start.
Result<model::Workspace> scope_of(const Arguments& arguments, const Place& place);

/// The variable that says more than what `berth configure --defaults <key>=…` keeps; empty when
/// none does.
std::string overriding_variable(const Place& place, std::string_view key);

}  // namespace berth::cli
