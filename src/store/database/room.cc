// SPDX-License-Identifier: Apache-2.0
#include "store/database/room.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/log.h"
#include "io/files/disk_room.h"

namespace berth::store {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
/// The reserve is given up in so many parts.
constexpr std::int64_t kParts = 4;

}  // namespace

RoomSizes room_sizes(std::uint64_t disk_size) {
  const auto size = static_cast<std::int64_t>(
      std::min<std::uint64_t>(disk_size, std::numeric_limits<std::int64_t>::max()));
  return {.log = std::clamp(size / 16, kMiB, 32 * kMiB),
          .chunk = std::clamp(size / 256, 128 * kKiB, kMiB) / kKiB * kKiB,
          .reserve = std::clamp(size / 64, 256 * kKiB, kMiB),
          .least = std::clamp(size / 64, 256 * kKiB, 4 * kMiB)};
}

Room::Room(Database& database, std::string directory, const std::optional<RoomSizes>& sizes)
    : database_(database), directory_(std::move(directory)) {
  const auto room = io::disk_room(directory_);
  sizes_ =
      sizes.value_or(room_sizes(room ? room->total : std::numeric_limits<std::uint64_t>::max()));
}

/// A disk that does not say is taken for an empty one.
std::int64_t Room::free_room() const {
  const auto room = io::disk_room(directory_);
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(room ? std::min(room->free, kMost) : kMost);
}

/// Twice the least: what was given up is to be made again as well.
bool Room::is_full() const { return is_full_ && free_room() < 2 * sizes_.least; }

void Room::look() {
  // What was given up belongs to what there should be.
  const std::int64_t wanted = has_file_ ? sizes_.least : 2 * sizes_.least;
  if (is_full_ || free_room() >= wanted) return;
  is_full_ = true;
  log::warning("the disk of '{}' is full: only what ends work or makes room is still recorded",
               directory_);
}

Status Room::begin(const std::string& log_path) {
  log_path_ = log_path;
  page_size_ = TRY(database_.integer("PRAGMA page_size", {}, 4096));
  TRY(database_.execute(fmt::format("PRAGMA journal_size_limit = {}", sizes_.log).c_str()));
  database_.grow_by(sizes_.chunk);
  // Without room for it a server still starts: that is how somebody makes room.
  const Status covered = cover_pages();
  if (!covered && covered.error().code != Code::OutOfSpace) return covered;
  has_file_ = ::access(reserve_path().c_str(), F_OK) == 0;
  look();
  return Done{};
}

Status Room::cover_pages() {
  const std::int64_t pages = TRY(database_.integer("PRAGMA page_count"));
  if (pages <= covered_pages_) return Done{};
  TRY(database_.reach(pages * page_size_));
  const std::int64_t chunks = (pages * page_size_ + sizes_.chunk - 1) / sizes_.chunk;
  covered_pages_ = chunks * sizes_.chunk / page_size_;
  return Done{};
}

Result<bool> Room::give_up_pages() {
  const std::int64_t part = TRY(database_.integer(
      "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'reserve'"));
  if (part == 0) return false;
  const std::int64_t last = TRY(database_.integer("SELECT max(part) FROM reserve"));
  if (last == 0) return false;
  TRY(database_.run("DELETE FROM reserve WHERE part = ?", {last}));
  is_whole_ = false;
  return true;
}

/// The table is no part of the schema: nobody misses what is in it. One transaction for each part
/// keeps them small beside the log.
Status Room::restore_pages() {
  TRY(database_.run("CREATE TABLE IF NOT EXISTS reserve (part INTEGER PRIMARY KEY, bytes BLOB)"));
  for (std::int64_t part = 1; part <= kParts; ++part) {
    TRY(database_.run("BEGIN IMMEDIATE"));
    Status made = database_.run("INSERT OR IGNORE INTO reserve VALUES (?, zeroblob(?))",
                                {part, sizes_.reserve / kParts});
    if (made) made = cover_pages();
    if (made) made = database_.run("COMMIT");
    if (!made) {
      if (database_.in_transaction()) (void)database_.run("ROLLBACK");
      return made;
    }
  }
  return Done{};
}

/// A file that finds no room must not take the last of it.
Status Room::restore_file(const std::string& path, std::int64_t size) {
  const std::int64_t missing = size - static_cast<std::int64_t>(io::room_taken(path));
  if (missing <= 0) return Done{};
  if (free_room() < 2 * sizes_.least + missing) {
    return fail(Code::OutOfSpace, fmt::format("there is no room to keep for '{}'", path));
  }
  return io::keep_room(path, static_cast<std::uint64_t>(size));
}

Status Room::restore() {
  if (free_room() < 2 * sizes_.least) return Done{};
  if (is_full_.exchange(false)) log::info("there is room on the disk of '{}' again", directory_);
  Status restored = restore_file(log_path_, sizes_.log);
  if (restored) restored = restore_pages();
  if (restored) restored = restore_file(reserve_path(), sizes_.least);
  is_whole_ = has_file_ = restored.has_value();
  if (!restored && restored.error().code != Code::OutOfSpace) return restored;
  return Done{};
}

void Room::give_up_file() {
  ::unlink(reserve_path().c_str());
  has_file_ = false;
  is_whole_ = false;
}

bool Room::is_full(const std::string& directory) {
  const auto room = io::disk_room(directory);
  if (!room) return false;
  const std::int64_t least = room_sizes(room->total).least;
  const bool has_file = ::access((directory + "/reserve").c_str(), F_OK) == 0;
  return static_cast<std::int64_t>(room->free) < (has_file ? least : 2 * least);
}

void Room::make_way_to_start(const std::string& directory) {
  if (!is_full(directory) || ::unlink((directory + "/reserve").c_str()) != 0) return;
  log::warning("the disk of '{}' is full: this server starts with what was kept back for it",
               directory);
}

}  // namespace berth::store
