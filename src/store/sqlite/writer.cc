// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/caught.h"
#include "base/log.h"
#include "store/database/foreign_reader.h"
#include "store/sqlite/objects_of.h"
#include "store/sqlite/superseded.h"

namespace berth::store {
namespace {

/// More than this at once would only make the first of them wait, and the log longer.
constexpr std::size_t kLargestGroup = 1024;

/// How often what was given up is tried to be had again.
constexpr Duration kBetweenTries = std::chrono::seconds(1);
/// With our own readers, after they were interrupted.
constexpr Duration kPatience(200);
/// Of the log: a page and what stands before it.
constexpr std::int64_t kFrameSize = 4096 + 24;

/// A sync that failed, an I/O error, a damaged database. What the kernel could not write it may
/// have forgotten: a later sync that succeeds says nothing, so nothing is tried again.
bool is_of_the_disk(const Error& error) { return error.code == Code::Internal; }

/// Callers can act on a full disk; everything else may pass.
Error as_refusal(Error error) {
  if (error.code != Code::OutOfSpace) error.code = Code::Unavailable;
  return error;
}

}  // namespace

Writer::Writer(Database database, Parts parts)
    : parts_(std::move(parts)),
      database_(std::move(database)),
      room_(database_, parts_.path.substr(0, parts_.path.rfind('/')), parts_.sizes),
      thread_([this] { work(); }) {}

Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
}

void Writer::submit(Batch batch, Store::Committed done) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({.batch = std::move(batch), .done = std::move(done)});
  }
  changed_.notify_all();
}

void Writer::resume() {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({.resumes = true});
  }
  changed_.notify_all();
}

void Writer::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty() && !is_writing_; });
}

void Writer::work() {
  if (const Status begun = room_.begin(parts_.path + "-wal"); !begun) {
    refuse_from_now_on(begun.error());
  }
  tended_at_ = clock_.now().mono;
  for (std::optional<Group> group = take(); group; group = take()) {
    if (!group->empty()) settle(*std::move(group));
    tend();
  }
}

/// What waits, in order; a resumption stands alone. Empty when nothing came for a while and there
/// is something to look after; nothing when it is time to stop.
std::optional<Writer::Group> Writer::take() {
  std::unique_lock lock(mutex_);
  is_writing_ = false;
  if (queue_.empty()) changed_.notify_all();
  const auto is_awaited = [&] { return !queue_.empty() || is_stopping_; };
  if (room_.is_whole() || is_broken_) {
    changed_.wait(lock, is_awaited);
  } else if (!changed_.wait_for(lock, kBetweenTries, is_awaited)) {
    return Group{};
  }
  if (queue_.empty()) return std::nullopt;
  Group group;
  while (!queue_.empty() && group.size() < kLargestGroup) {
    const bool resumes = queue_.front().resumes;
    if (resumes && !group.empty()) break;
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
    if (resumes) break;
  }
  is_writing_ = true;
  return group;
}

void Writer::tend() {
  if (is_broken_) return;
  Status tended = shorten_log();
  const TimePoint now = clock_.now().mono;
  if (tended && !room_.is_whole() && now - tended_at_ >= kBetweenTries) {
    tended_at_ = now;
    tended = room_.restore();
  }
  if (!tended && is_of_the_disk(tended.error())) refuse_from_now_on(tended.error());
}

void Writer::settle(Group group) {
  if (!group.front().resumes) return settle_batches(std::move(group));
  if (is_broken_) return;
  // With a full disk, a log that begins anew is room to go on with.
  if (failure_) (void)database_.checkpoint(Database::Checkpoint::Restart, kPatience);
  failure_.reset();
}

void Writer::settle_batches(Group group) {
  if (!failure_) {
    const Status committed = commit(group);
    if (!committed) refuse_from_now_on(committed.error());
  }
  const Status outcome = failure_ ? Status(fail(*failure_)) : Status(Done{});
  auto settled = std::make_shared<Group>(std::move(group));
  parts_.loop.post([settled, outcome] {
    for (const Item& item : *settled) {
      if (item.done) item.done(outcome);
    }
  });
}

void Writer::refuse_from_now_on(const Error& error) {
  log::error("commit failed: {}", error.message);
  failure_ = as_refusal(error);
  is_broken_ = is_of_the_disk(error);
  if (!is_broken_ || !parts_.on_broken) return;
  parts_.loop.post([broken = parts_.on_broken, error] { broken(error); });
}

/// The first change that finds no room is refused, and tells the server to turn others away. What
/// comes after that ends work or makes room: for that some was kept back.
Status Writer::commit(const Group& group) {
  const bool was_full = room_.is_full();  // Before this: whoever came meanwhile may add something.
  room_.look();
  TRY(make_log_room());
  TRY(sync_objects(group));
  const auto finds_no_room = [](const Status& status) {
    return !status && status.error().code == Code::OutOfSpace;
  };
  Status committed = try_commit(group, false);
  if (!finds_no_room(committed)) return committed;
  room_.note_full();
  if (!was_full) return committed;
  committed = try_commit(group, true);
  if (!finds_no_room(committed)) return committed;
  // Last of all what the next server is to start with.
  room_.give_up_file();
  return try_commit(group, true);
}

Status Writer::try_commit(const Group& group, bool gives_up_pages) {
  TRY(database_.run("BEGIN IMMEDIATE"));
  // A fault of ours, or no memory, is none of the disk's.
  Status written = fail(Code::Unavailable, "a change could not be written; the log says why");
  (void)caught("writing rows", [&] { written = write_transaction(group, gives_up_pages); });
  if (written) written = database_.run("COMMIT");
  if (!written) {
    // Some failures roll back by themselves.
    if (database_.in_transaction()) (void)database_.run("ROLLBACK");
    return written;
  }
  rows_.committed();
  ++transactions_;
  return Done{};
}

Status Writer::write_transaction(const Group& group, bool gives_up_pages) {
  if (gives_up_pages) TRY(room_.give_up_pages());
  TRY(write_rows(group));
  return room_.cover_pages();
}

int Writer::pages_of_log(std::int64_t quarters) const {
  return static_cast<int>(room_.sizes().log / 4 * quarters / kFrameSize);
}

/// Before a commit. Only a reader of another process can be in the way for longer than a moment.
Status Writer::make_log_room() {
  if (database_.log_pages() < pages_of_log(6)) return Done{};
  const Held held = parts_.make_way ? parts_.make_way(true) : Held{};
  const Duration patience = is_blocked_ ? Duration::zero() : parts_.patience;
  is_blocked_ = !TRY(database_.checkpoint(Database::Checkpoint::Restart, patience));
  if (!is_blocked_) return Done{};
  return fail(Code::Unavailable,
              fmt::format("{} has been reading the database for so long that its log cannot grow "
                          "any more; end it",
                          foreign_reader(parts_.path)));
}

/// Who comes while this goes on waits for it; who has come has been answered. Without room for it
/// the log grows for a while, and so it does while somebody reads what is in it.
Status Writer::shorten_log() {
  const int length = database_.log_pages();
  if (length < pages_of_log(2)) next_try_ = 0;
  if (length < std::max(next_try_, pages_of_log(2))) return Done{};
  next_try_ = length + pages_of_log(1) / 8;
  const bool makes_way = length >= pages_of_log(4);
  const Held held = makes_way && parts_.make_way ? parts_.make_way(false) : Held{};
  const Duration patience = makes_way ? kPatience : Duration::zero();
  const auto begun = database_.checkpoint(Database::Checkpoint::Restart, patience);
  if (!begun && is_of_the_disk(begun.error())) return fail(begun.error());
  return Done{};
}

// Only the first one costs a sync: the others find that nothing was adopted since.
Status Writer::sync_objects(const Group& group) const {
  for (const Item& item : group) {
    for (const std::string& name : objects_of(item.batch)) TRY(parts_.objects.sync(name));
  }
  return Done{};
}

Status Writer::write_rows(const Group& group) {
  std::vector<const Write*> changes;
  for (const Item& item : group) {
    for (const Write& write : item.batch) changes.push_back(&write);
  }
  const std::vector<bool> is_worth_it = worth_writing(changes);
  rows_.begin();
  for (std::size_t place = 0; place < changes.size(); ++place) {
    if (is_worth_it[place]) TRY(rows_.write(*changes[place]));
  }
  return rows_.finish();
}

}  // namespace berth::store
