// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/database/sqlite.h"

namespace berth::store {

/// How much is kept back, and how long the log may become: less on a small disk. In bytes.
struct RoomSizes {
  std::int64_t log = 0;      ///< The log is moved into the database at half of it (writer.h).
  std::int64_t chunk = 0;    ///< By which the database's file grows.
  std::int64_t reserve = 0;  ///< Pages of the database that only its own need may use.
  std::int64_t least = 0;    ///< With less than this free the disk counts as full.
};
RoomSizes room_sizes(std::uint64_t disk_size);

/// Room that is kept back on the disk of the state directory, so that the database can go on when
/// all other room is taken, by a job that writes without end for instance.
///
/// - The log has room for its whole length, and the file of the database has room for every page
///   that was committed: so the log can always be moved into the database and begun anew.
/// - The table `reserve` holds pages that nobody reads. When there is no room, they are given up
///   for what ends work or deletes something.
/// - The file `reserve` is given up so that a server can start, which needs some small files.
///
/// All of it is made again when there is room. Belongs to the writer's thread, except for
/// is_full().
class Room {
 public:
  /// Without sizes they are as the disk's size has it.
  Room(Database& database, std::string directory, const std::optional<RoomSizes>& sizes);

  const RoomSizes& sizes() const { return sizes_; }
  /// Little room was left when the writer last looked, or a commit found none; and still is so.
  bool is_full() const;

  /// Once, before anything is committed; `path` is the log's.
  Status begin(const std::string& log_path);
  /// Before each group of commits.
  void look();
  void note_full() { is_full_ = true; }
  /// Before a COMMIT, inside its transaction. OutOfSpace: then it is to be rolled back.
  Status cover_pages();
  /// The room that was kept back for a start: the log may need it.
  void give_up_file();
  /// Inside a transaction that could not be had otherwise. False when nothing is left.
  Result<bool> give_up_pages();
  /// Whether anything is to be made again.
  bool is_whole() const { return is_whole_ && !is_full_; }
  /// Makes again what was given up, if there is room now.
  Status restore();

  /// Is there hardly any room in the state directory? What was given up belongs to what there
  /// should be.
  static bool is_full(const std::string& directory);
  /// Before a server opens anything: on a full disk it gets what was kept back for that.
  static void make_way_to_start(const std::string& directory);

 private:
  Status restore_pages();
  Status restore_file(const std::string& path, std::int64_t size);
  std::int64_t free_room() const;
  std::string reserve_path() const { return directory_ + "/reserve"; }

  Database& database_;
  std::string directory_;
  std::string log_path_{};
  RoomSizes sizes_{};
  std::int64_t page_size_ = 4096;
  std::int64_t covered_pages_ = 0;
  bool is_whole_ = false;
  bool has_file_ = false;  ///< The reserve for a start is there.
  std::atomic<bool> is_full_ = false;
};

}  // namespace berth::store
