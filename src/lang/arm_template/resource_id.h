// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::lang::arm_template {

/// "/providers/Microsoft.X/a/name1/b/name2" of the type "Microsoft.X/a/b" and the name
/// "name1/name2". InvalidArgument when they have not as many parts as each other.
Result<std::string> provider_path(std::string_view type, std::string_view name);

/// "/subscriptions/…/resourceGroups/…" with that below it.
std::string group_id(std::string_view subscription, std::string_view group);

}  // namespace berth::lang::arm_template
