// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::store {

/// The name of a file system for sqlite3_open_v2(), the machine's own but for the log: SQLite
/// writes each page of it in two pieces, and here the pieces that follow one another reach the file
/// as one write. They reach it before anything else is done with the file: a sync first of all.
///
/// Only for a connection with "PRAGMA synchronous = FULL". Others learn of a commit from memory
/// they share, and look for its pages in the file: only with that setting the sync comes before.
const char* gathering_file_system();

}  // namespace berth::store
