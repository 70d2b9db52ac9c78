// SPDX-License-Identifier: Apache-2.0
#include "store/writer.h"

#include <memory>

#include "base/log.h"

namespace berth::store {
namespace {

/// More than this at once would only make the first of them wait.
constexpr std::size_t kLargestGroup = 4096;

/// Calls `visit` with every object that the batch refers to.
template <typename Visit>
Status for_each_object(const Batch& batch, Visit visit) {
  for (const Write& write : batch) {
    if (const auto* put = std::get_if<PutBlob>(&write)) {
      for (const Piece& piece : put->blob.pieces) TRY(visit(piece.sha256));
    } else if (const auto* block = std::get_if<PutBlock>(&write)) {
      TRY(visit(block->block.piece.sha256));
    }
  }
  return Done{};
}

/// The log is moved into the database every 16 MiB, so that the cost is spread over many commits.
constexpr int kLogPages = 4000;

/// A sync that failed, an I/O error, a damaged database. What the kernel could not write it may
/// have forgotten: a later sync that succeeds says nothing, so nothing is tried again.
bool is_of_the_disk(const Error& error) { return error.code == Code::Internal; }

/// Callers can act on a full disk; everything else may pass.
Error as_refusal(Error error) {
  if (error.code != Code::OutOfSpace) error.code = Code::Unavailable;
  return error;
}

}  // namespace

Writer::Writer(Database database, io::Loop& loop, const io::ObjectStore& objects,
               Store::Broken on_broken)
    : database_(std::move(database)),
      loop_(loop),
      objects_(objects),
      on_broken_(std::move(on_broken)),
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
  for (Group group = take(); !group.empty(); group = take()) settle(std::move(group));
}

/// What waits, in order; a resumption stands alone. Empty when it is time to stop.
Writer::Group Writer::take() {
  std::unique_lock lock(mutex_);
  is_writing_ = false;
  if (queue_.empty()) changed_.notify_all();
  changed_.wait(lock, [&] { return !queue_.empty() || is_stopping_; });
  Group group;
  while (!queue_.empty() && group.size() < kLargestGroup) {
    const bool resumes = queue_.front().resumes;
    if (resumes && !group.empty()) break;
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
    if (resumes) break;
  }
  is_writing_ = !group.empty();
  return group;
}

void Writer::settle(Group group) {
  if (!group.front().resumes) return settle_batches(std::move(group));
  // With a full disk, an emptied log is room to go on with.
  if (is_broken_) return;
  if (failure_) (void)database_.checkpoint(Database::Checkpoint::Truncate);
  failure_.reset();
}

void Writer::settle_batches(Group group) {
  if (!failure_) {
    const Status committed = commit(group);
    if (!committed) refuse_from_now_on(committed.error());
  }
  const Status outcome = failure_ ? Status(fail(*failure_)) : Status(Done{});
  auto settled = std::make_shared<Group>(std::move(group));
  loop_.post([settled, outcome] {
    for (const Item& item : *settled) {
      if (item.done) item.done(outcome);
    }
  });
}

void Writer::refuse_from_now_on(const Error& error) {
  log::error("commit failed: {}", error.message);
  failure_ = as_refusal(error);
  is_broken_ = is_of_the_disk(error);
  if (!is_broken_ || !on_broken_) return;
  loop_.post([broken = on_broken_, error] { broken(error); });
}

Status Writer::commit(const Group& group) {
  TRY(sync_objects(group));
  TRY(database_.run("BEGIN IMMEDIATE"));
  Status written = write_rows(group);
  if (written) written = database_.run("COMMIT");
  if (!written) {
    // Some failures roll back by themselves.
    if (database_.in_transaction()) (void)database_.run("ROLLBACK");
    return written;
  }
  ++transactions_;
  return shorten_log();
}

/// Without room for it the log only grows.
Status Writer::shorten_log() {
  if (database_.log_pages() < kLogPages) return Done{};
  const Status shortened = database_.checkpoint(Database::Checkpoint::Passive);
  if (!shortened && is_of_the_disk(shortened.error())) return shortened;
  return Done{};
}

// Only the first one costs a sync: the others find that nothing was adopted since.
Status Writer::sync_objects(const Group& group) const {
  for (const Item& item : group) {
    TRY(for_each_object(item.batch,
                        [this](const std::string& name) { return objects_.sync(name); }));
  }
  return Done{};
}

Status Writer::write_rows(const Group& group) {
  for (const Item& item : group) {
    for (const Write& write : item.batch) TRY(rows_.write(write));
  }
  return Done{};
}

}  // namespace berth::store
