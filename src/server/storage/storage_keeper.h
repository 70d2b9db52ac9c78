// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/job.h"
#include "server/storage/storage_report.h"
#include "server/storage/sweep.h"
#include "store/store.h"

namespace berth::server {

/// Makes room: deletes jobs that people ask it to, and those whose time is over; sweeps. Nothing it
/// does takes long on the loop, and each of its commits is small. Loop thread only.
class StorageKeeper {
 public:
  using Gone = std::function<void(Status)>;

  explicit StorageKeeper(SweepParts parts, std::string home);
  ~StorageKeeper();

  /// Takes the first part of what the job left away in the turn that is open, then the others, then
  /// the job. Refused at once, or `gone` is called when it is on disk.
  Status delete_job(const model::JobKey& job, Gone gone);

  void sweep(bool is_trial, Sweeper::Finished finished);
  void report(Workspaces workspaces, bool is_whole,
              std::function<void(Result<boost::json::object>)> done);
  void inspect(store::Store::Inspection inspection) { parts_.store.inspect(std::move(inspection)); }

  /// Files went by other ways: sweep soon.
  void files_went() { has_freed_ = true; }
  /// Somebody has changed a rule: look soon.
  void retention_changed() { next_look_.reset(); }

  /// Called about once a second: what is due by the rules goes, a few jobs at a time, and what
  /// nothing names any more is swept.
  void tick();

 private:
  struct Removal;

  void take_next_part(const std::shared_ptr<Removal>& removal);
  void take_job(const std::shared_ptr<Removal>& removal);
  void end(const std::shared_ptr<Removal>& removal, const Status& status);

  void look_for_due();
  void look_at(const model::WorkspaceId& workspace, std::int64_t after);
  struct Due {
    std::vector<model::JobKey> jobs{};
    std::vector<model::JobKey> logs{};
    std::optional<std::int64_t> next{};
  };
  static Result<Due> find_due(store::StorageReader& reader, const model::Workspace& workspace,
                              std::int64_t after, WallTime now);
  void carry_out(const model::WorkspaceId& workspace, const std::shared_ptr<Due>& due);
  Status retire(const model::WorkspaceId& workspace, const model::JobKey& job,
                const std::shared_ptr<Due>& due);
  void sweep_when_wanted();

  SweepParts parts_;
  std::string home_;
  Sweeper sweeper_;
  std::optional<TimePoint> next_look_{};  ///< For jobs whose time is over; none: at once.
  std::set<model::WorkspaceId> looking_{};
  bool has_freed_ = false;  ///< Something went that objects belonged to.
  std::optional<TimePoint> next_sweep_{};
  TimePoint earliest_sweep_{};
  std::optional<TimePoint> sweep_began_{};
};

}  // namespace berth::server
