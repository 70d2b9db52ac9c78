// SPDX-License-Identifier: Apache-2.0
#include "server/storage/sweep.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "server/plane/ledger.h"
#include "server/storage/object_marks.h"

namespace berth::server {
namespace {

constexpr std::size_t kRowsAtOnce = 2000;
constexpr std::size_t kRemovedAtOnce = 200;
constexpr std::size_t kTidiedAtOnce = 200;

/// As long as Azure's storage keeps blocks that nobody makes a blob of.
constexpr std::chrono::hours kUnfinished(7 * 24);
/// Clients upload first and submit then, or find that what they want is there already and submit.
constexpr std::chrono::hours kIdleCode(1);
constexpr std::chrono::hours kIdleUpload(24);
constexpr std::chrono::hours kLeftover(24);

}  // namespace

struct Sweeper::Work {
  SweepReport report{};
  Finished finished{};
  WallTime now{};
  store::Batch tidying{};
  bool has_begun = false;  ///< Objects that come into use are noted.
  store::FileCursor cursor{};
  ObjectMarks marks{};
  std::vector<std::string> unnamed{};
  Status outcome = Done{};
};

Sweeper::~Sweeper() {
  if (running_ && running_->has_begun) parts_.objects.end_sweep();
}

void Sweeper::start(bool is_trial, Finished finished) {
  auto work = std::make_shared<Work>();
  work->report.is_trial = is_trial;
  work->finished = std::move(finished);
  waiting_.push_back(std::move(work));
  next();
}

void Sweeper::next() {
  if (running_ || waiting_.empty()) return;
  running_ = std::move(waiting_.front());
  waiting_.pop_front();
  const std::shared_ptr<Work> work = running_;
  work->now = parts_.clock.now().wall;
  if (::access(parts_.hold_file.c_str(), F_OK) == 0) {
    work->report.is_held = true;
    return finish(work);
  }
  beside(
      work,
      [](Work& own, store::StorageReader& reader) -> Status {
        for (store::CodeVersion& code : TRY(reader.idle_code(own.now - kIdleCode, kTidiedAtOnce))) {
          own.tidying.push_back(store::DropCode{std::move(code)});
        }
        own.report.code_versions = own.tidying.size();
        for (store::UploadFolder& folder :
             TRY(reader.idle_uploads(own.now - kIdleUpload, kTidiedAtOnce))) {
          own.tidying.push_back(store::DropUpload{std::move(folder)});
        }
        own.report.uploads = own.tidying.size() - own.report.code_versions;
        for (store::BlobKey& key : TRY(reader.stale_blocks(own.now - kUnfinished, kTidiedAtOnce))) {
          own.tidying.push_back(store::DropStaleBlocks{std::move(key), own.now - kUnfinished});
          ++own.report.stale_uploads;
        }
        return Done{};
      },
      &Sweeper::tidy);
}

void Sweeper::beside(const std::shared_ptr<Work>& work,
                     std::function<Status(Work&, store::StorageReader&)> what, Step then) {
  parts_.store.inspect([this, work, what = std::move(what), then](store::StorageReader& reader) {
    work->outcome = what(*work, reader);
    return [this, work, then] { go_on(work, work->outcome, then); };
  });
}

void Sweeper::go_on(const std::shared_ptr<Work>& work, const Status& status, Step step) {
  work->outcome = status;
  (this->*(status ? step : &Sweeper::finish))(work);
}

/// One commit for each, so that none of them is large.
void Sweeper::tidy(const std::shared_ptr<Work>& work) {
  if (work->tidying.empty() || work->report.is_trial) {
    parts_.objects.begin_sweep();
    work->has_begun = true;
    return mark(work);
  }
  store::Batch batch;
  batch.push_back(std::move(work->tidying.back()));
  work->tidying.pop_back();
  parts_.ledger.write(std::move(batch));
  parts_.ledger.when_durable([this, work](const Status& durable) {
    // A disk may be too full for that, and all the more in need of the rest.
    if (!durable) work->tidying.clear();
    tidy(work);
  });
}

void Sweeper::mark(const std::shared_ptr<Work>& work) {
  if (work->cursor.is_end) return find(work);
  beside(
      work,
      [](Work& own, store::StorageReader& reader) -> Status {
        const store::StoredFiles page = TRY(reader.files(own.cursor, kRowsAtOnce));
        for (const store::StoredFile& file : page.files) {
          for (const store::Piece& piece : file.pieces) own.marks.add(piece.sha256, piece.size);
        }
        own.cursor = page.next;
        if (own.cursor.is_end) own.marks.sort();
        return Done{};
      },
      &Sweeper::mark);
}

/// A file that is no object was being written when a server died; one that is, is not a day old.
static bool is_old(const std::string& path, WallTime now) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  return WallTime(std::chrono::seconds(facts.st_mtime)) < now - kLeftover;
}

void Sweeper::find(const std::shared_ptr<Work>& work) {
  beside(
      work,
      [&objects = parts_.objects](Work& own, store::StorageReader&) -> Status {
        own.report.kept_objects = own.marks.count();
        std::vector<std::string> leftovers;
        TRY(objects.list([&](std::string_view name, bool is_object) {
          if (!is_object) {
            leftovers.push_back(objects.directory() + "/" + std::string(name));
          } else if (!own.marks.contains(name)) {
            own.unnamed.emplace_back(name);
          }
        }));
        for (const std::string& path : leftovers) {
          if (!is_old(path, own.now)) continue;
          ++own.report.leftovers;
          if (!own.report.is_trial) ::unlink(path.c_str());
        }
        return Done{};
      },
      &Sweeper::remove);
}

void Sweeper::remove(const std::shared_ptr<Work>& work) {
  if (work->unnamed.empty()) return finish(work);
  beside(
      work,
      [&objects = parts_.objects](Work& own, store::StorageReader&) -> Status {
        for (std::size_t count = 0; count < kRemovedAtOnce && !own.unnamed.empty(); ++count) {
          const auto removed = TRY(objects.remove_unused(own.unnamed.back(), own.report.is_trial));
          own.unnamed.pop_back();
          if (!removed.is_removed) continue;
          ++own.report.objects;
          own.report.bytes += removed.size;
        }
        return Done{};
      },
      &Sweeper::remove);
}

void Sweeper::finish(const std::shared_ptr<Work>& work) {
  if (work->has_begun) parts_.objects.end_sweep();
  work->has_begun = false;
  running_.reset();
  if (!work->outcome) {
    log::warning("the sweep was not finished: {}", work->outcome.error().message);
    work->finished(fail(work->outcome.error()));
  } else {
    work->finished(work->report);
  }
  next();
}

}  // namespace berth::server
