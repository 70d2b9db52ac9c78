// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace berth::store {

/// SQLite believes its log up to the first record whose checksum is wrong, and forgets the rest
/// without a word. That is right for a crash, which can only have hit the last transaction, because
/// each is synced before the next begins. With more than one transaction behind the wrong record
/// the disk has changed what was acknowledged: then this is an Internal error that says where.
///
/// Reads `path`, changes nothing. Before SQLite opens the database; a log that is not there, or not
/// of the version we know, is fine.
Status check_log(const std::string& path);

}  // namespace berth::store
