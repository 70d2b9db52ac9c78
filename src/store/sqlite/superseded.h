// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "store/store.h"

namespace berth::store {

/// Says of each change, in order, whether to write it: false for the row of a job or a node that a
/// later change of the same transaction writes again. What else may look at rows, or remove them,
/// finds them as they were: changes before it are never left out for one behind it.
std::vector<bool> worth_writing(std::span<const Write* const> changes);

}  // namespace berth::store
