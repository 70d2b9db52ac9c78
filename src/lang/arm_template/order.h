// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lang/arm_template/plan.h"

namespace berth::lang::arm_template {

/// Everything behind what it depends on, otherwise as it was; `after` is renumbered. Resources that
/// wait for each other are an error that names them.
Result<std::vector<PlannedResource>> in_order(std::vector<PlannedResource> resources);

}  // namespace berth::lang::arm_template
