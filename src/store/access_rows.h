// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "core/access.h"
#include "store/sqlite.h"

namespace berth::store {

/// Users, tokens and roles.
Result<core::Access> load_access(Database& reader);

}  // namespace berth::store
