// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/job.h"
#include "store/database/sqlite.h"
#include "store/tracking.h"

namespace berth::store {

/// The part of RowWriter that writes what is logged. What it is told of and is not there (a run
/// that was deleted meanwhile) is passed over.
class TrackingRows {
 public:
  explicit TrackingRows(Database& database) : database_(database) {}

  Status write(const TrackingChange& change);

  // Every job has a run. It takes over what the job says of itself, whenever that changes.

  Status job_made(const model::Job& job);
  /// Of a job that was over before, only the name: its run is as MLflow's clients left it.
  Status job_changed(const model::Job& job, bool was_live);
  Status job_tagged(const model::Job& job, const model::TagMap& old_tags);
  Status job_deleted(const model::JobKey& job);
  Status drop_metrics(const model::JobKey& job, std::size_t limit);
  Status drop_logged_model(std::int64_t model);

  Status workspace_made(const model::Workspace& workspace);
  Status workspace_deleted(const model::WorkspaceId& workspace);

 private:
  Status put(const PutExperiment& change);
  Status put(const TagExperiment& change);
  Status put(const MarkExperiment& change);
  Status put(const PutRun& change);
  Status put(const ChangeRun& change);
  Status put(const LogToRun& change);
  Status put(const PutLoggedModel& change);
  Status put(const ChangeLoggedModel& change);

  Result<std::string> experiment_of(const model::Job& job);
  Result<std::int64_t> number_of(const model::RunKey& run);
  Result<std::int64_t> number_of_model(const model::WorkspaceId& workspace, const std::string& id);
  Status insert_run(const model::Run& run);
  Status add_metric(std::int64_t run, const model::Metric& metric);
  Status add_model_metric(std::int64_t model, const model::RunKey& run,
                          const model::Metric& metric);
  Status set_tag(const model::RunKey& key, std::int64_t run, const std::string& tag,
                 const std::string& value);
  Status set_tags(const model::RunKey& key, std::int64_t run, const model::TagMap& tags);
  Status add_inputs(std::int64_t run, const LogToRun& change);
  Status set_model_texts(std::int64_t model, const model::TagMap& tags,
                         const model::TagMap& params);

  Database& database_;
};

}  // namespace berth::store
