// SPDX-License-Identifier: Apache-2.0
#include "server/storage/storage_keeper.h"

#include <fmt/format.h>

#include "base/log.h"
#include "core/rules/retention.h"
#include "core/rules/workspace_rules.h"
#include "server/plane/jobs_desk.h"
#include "server/plane/ledger.h"

namespace berth::server {
namespace {

using model::JobKey;
using model::WorkspaceId;

/// For jobs whose time is over; sooner where a rule itself is shorter.
constexpr Duration kBetweenLooks = std::chrono::minutes(10);
constexpr Duration kBetweenSweeps = std::chrono::hours(1);
/// After something was deleted; but a sweep never takes more than a twentieth of the time.
constexpr Duration kSoon = std::chrono::seconds(2);
constexpr int kShare = 20;
constexpr std::size_t kJobsAtOnce = 50;
constexpr int kMostTries = 20;
constexpr std::size_t kFilesInPart = store::DropJobFiles{}.limit;
constexpr std::size_t kPointsInPart = store::DropMetrics{}.limit;

std::size_t parts_of(std::uint64_t all, std::size_t in_part) {
  return static_cast<std::size_t>((all + in_part - 1) / in_part);
}

}  // namespace

/// A job on its way out.
struct StorageKeeper::Removal {
  JobKey job{};
  Gone gone{};
  bool is_counted = false;
  std::size_t parts_left = 0;
  int tries = 0;
};

StorageKeeper::StorageKeeper(SweepParts parts, std::string home)
    : parts_(std::move(parts)), home_(std::move(home)), sweeper_(parts_) {}

StorageKeeper::~StorageKeeper() = default;

// ---- Jobs ---------------------------------------------------------------------------------------

Status StorageKeeper::delete_job(const JobKey& job, Gone gone) {
  TRY(parts_.jobs.begin_removal(job));
  auto removal = std::make_shared<Removal>(Removal{.job = job, .gone = std::move(gone)});
  parts_.ledger.when_durable([this, removal](const Status& durable) {
    if (!durable) return end(removal, durable);
    take_next_part(removal);
  });
  return Done{};
}

/// How many parts there are is counted once; what comes in meanwhile goes with the job.
void StorageKeeper::take_next_part(const std::shared_ptr<Removal>& removal) {
  if (!removal->is_counted) {
    parts_.store.inspect([this, removal](store::StorageReader& reader) {
      const auto found = reader.footprint(removal->job);
      if (found) {
        removal->parts_left = std::max(parts_of(found->files, kFilesInPart),
                                       parts_of(found->metric_points, kPointsInPart));
      }
      removal->is_counted = true;
      return [this, removal] { take_next_part(removal); };
    });
    return;
  }
  // The last part goes with the job itself.
  if (removal->parts_left <= 1) return take_job(removal);
  --removal->parts_left;
  parts_.ledger.write(
      {store::DropJobFiles{.job = removal->job}, store::DropMetrics{.job = removal->job}});
  parts_.ledger.when_durable([this, removal](const Status& durable) {
    if (!durable) return end(removal, durable);
    take_next_part(removal);
  });
}

void StorageKeeper::take_job(const std::shared_ptr<Removal>& removal) {
  const Status deleted = parts_.jobs.remove(removal->job);
  // Somebody is just changing its tags: that comes first.
  const bool is_busy = !deleted && deleted.error().code == Code::Unavailable;
  if (is_busy && ++removal->tries <= kMostTries) {
    return parts_.ledger.when_durable([this, removal](const Status& durable) {
      if (!durable) return end(removal, durable);
      take_job(removal);
    });
  }
  if (!deleted) return end(removal, deleted);
  parts_.ledger.when_durable([this, removal](const Status& durable) { end(removal, durable); });
}

void StorageKeeper::end(const std::shared_ptr<Removal>& removal, const Status& status) {
  parts_.jobs.abandon_removal(removal->job);
  has_freed_ = true;
  removal->gone(status);
}

// ---- Rules --------------------------------------------------------------------------------------

void StorageKeeper::look_for_due() {
  const TimePoint now = parts_.clock.now().mono;
  if (next_look_ && now < *next_look_) return;
  const WallTime wall = parts_.clock.now().wall;
  Duration pause = kBetweenLooks;
  for (const auto& [id, workspace] : parts_.ledger.state().workspaces) {
    const auto due = core::due_before(workspace.retention, wall);
    if (!due) continue;
    look_at(id, 0);
    pause = std::min(pause, Duration(wall - *due));
  }
  next_look_ = now + pause;
}

Result<StorageKeeper::Due> StorageKeeper::find_due(store::StorageReader& reader,
                                                   const model::Workspace& workspace,
                                                   std::int64_t after, WallTime now) {
  Due due;
  const auto found = TRY(reader.jobs({.workspace = workspace.id,
                                      .ended_before = core::due_before(workspace.retention, now),
                                      .after = after,
                                      .limit = kJobsAtOnce}));
  for (const model::Job& job : found.jobs) {
    const core::Fate fate = core::fate_of(workspace.retention, job, now);
    if (fate == core::Fate::Delete) due.jobs.push_back(job.key);
    if (fate == core::Fate::DropLogs && TRY(reader.has_logs(job.key))) due.logs.push_back(job.key);
  }
  due.next = found.next;
  return due;
}

void StorageKeeper::look_at(const WorkspaceId& id, std::int64_t after) {
  const model::Workspace* workspace = core::find_workspace(parts_.ledger.state(), id);
  if (workspace == nullptr || !looking_.insert(id).second) return;
  parts_.store.inspect([this, workspace = *workspace, after,
                        now = parts_.clock.now().wall](store::StorageReader& reader) {
    auto found = std::make_shared<Result<Due>>(find_due(reader, workspace, after, now));
    return [this, id = workspace.id, found] {
      if (!*found) {
        looking_.erase(id);
        return log::warning("jobs whose time is over were not found: {}", found->error().message);
      }
      carry_out(id, std::make_shared<Due>(std::move(**found)));
    };
  });
}

/// One after the other. A job that cannot go now is looked at again the next time.
void StorageKeeper::carry_out(const WorkspaceId& workspace, const std::shared_ptr<Due>& due) {
  if (!due->logs.empty()) {
    store::Batch batch;
    for (const JobKey& job : due->logs) {
      batch.push_back(store::DropJobFiles{.job = job, .only_logs = true});
    }
    due->logs.clear();
    has_freed_ = true;
    parts_.ledger.write(std::move(batch));
  }
  if (due->jobs.empty()) {
    looking_.erase(workspace);
    if (due->next) look_at(workspace, *due->next);
    return;
  }
  const JobKey job = std::move(due->jobs.back());
  due->jobs.pop_back();
  if (!retire(workspace, job, due)) carry_out(workspace, due);
}

/// The job and the line of the audit log that tells of it are one batch.
Status StorageKeeper::retire(const WorkspaceId& workspace, const JobKey& job,
                             const std::shared_ptr<Due>& due) {
  const Together together(parts_.ledger);
  TRY(delete_job(job, [this, workspace, due, job](const Status& gone) {
    if (!gone) log::warning("job '{}' is still there: {}", job.name, gone.error().message);
    carry_out(workspace, due);
  }));
  const model::Workspace* owner = core::find_workspace(parts_.ledger.state(), workspace);
  if (owner != nullptr) {
    parts_.ledger.write(
        {store::AddAudit{{.at = parts_.clock.now().wall,
                          .who = "retention",
                          .method = "DELETE",
                          .action = "Microsoft.MachineLearningServices/workspaces/jobs/delete",
                          .target = model::arm_id(*owner) + "/jobs/" + job.name,
                          .status = 204}}});
  }
  return Done{};
}

// ---- Sweeps -------------------------------------------------------------------------------------

void StorageKeeper::sweep(bool is_trial, Sweeper::Finished finished) {
  sweeper_.start(is_trial, std::move(finished));
}

void StorageKeeper::report(Workspaces workspaces, bool is_whole,
                           std::function<void(Result<boost::json::object>)> done) {
  report_storage({.store = parts_.store, .objects = parts_.objects, .home = home_},
                 std::move(workspaces), is_whole, std::move(done));
}

void StorageKeeper::sweep_when_wanted() {
  const TimePoint now = parts_.clock.now().mono;
  if (!next_sweep_) next_sweep_ = now + kBetweenSweeps;
  if (sweep_began_) return;
  if (has_freed_) {
    has_freed_ = false;
    next_sweep_ = std::min(*next_sweep_, std::max(now + kSoon, earliest_sweep_));
  }
  if (now < *next_sweep_) return;
  sweep_began_ = now;
  sweep(false, [this](const Result<SweepReport>& report) {
    const TimePoint end = parts_.clock.now().mono;
    const Duration rest = (end - *sweep_began_) * kShare;
    sweep_began_.reset();
    earliest_sweep_ = end + rest;
    next_sweep_ = std::max(end + kBetweenSweeps, earliest_sweep_);
    if (report && report->objects > 0) {
      log::info("swept {} objects of {} bytes that nothing names any more", report->objects,
                report->bytes);
    }
  });
}

void StorageKeeper::tick() {
  look_for_due();
  sweep_when_wanted();
}

}  // namespace berth::server
