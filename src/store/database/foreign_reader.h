// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace berth::store {

/// Who else reads the database now, for people: "process 4711 (sqlite3)", "another process".
std::string foreign_reader(const std::string& database_path);

/// The number of a process that has one of SQLite's read locks on the file with this inode,
/// according to the text of /proc/locks; 0 when there is none. `own` does not count.
int find_reader(std::string_view locks, unsigned long inode, int own);

}  // namespace berth::store
