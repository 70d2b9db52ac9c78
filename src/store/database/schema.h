// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store/database/sqlite.h"

namespace berth::store {

/// The version this program writes. A database of a lower one is migrated, of a higher one refused.
std::int64_t schema_version();

/// Refuses a database that a newer Berth has written, without changing it. One that is not there is
/// fine.
Status check_version(const std::string& path);

/// Brings the tables up to that version, each step in a transaction of its own.
Status migrate(Database& database, std::int64_t to = schema_version());

}  // namespace berth::store
