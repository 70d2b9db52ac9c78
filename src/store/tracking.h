// SPDX-License-Identifier: Apache-2.0
// What is logged about experiments and runs: the changes, and how they are read again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/filter.h"
#include "model/tracking.h"
#include "store/page.h"

namespace berth::store {

/// Makes the experiment, or gives the one with its id this name. Its tags are added.
struct PutExperiment {
  model::Experiment experiment;
};
/// Sets a tag, or without a value takes it away.
struct TagExperiment {
  model::WorkspaceId workspace;
  std::string experiment{};
  std::string key{};
  std::optional<std::string> value{};
  WallTime at{};
};
/// Deletes an experiment with all its runs, or brings them back.
struct MarkExperiment {
  model::WorkspaceId workspace;
  std::string experiment{};
  bool is_deleted = true;
  WallTime at{};
};
/// A run that no job made: those come and go with their jobs.
struct PutRun {
  model::Run run;
  model::TagMap tags{};
};
struct ChangeRun {
  model::RunKey run;
  std::optional<std::string> name{};
  std::optional<model::RunStatus> status{};
  std::optional<WallTime> ended_at{};
  std::optional<bool> is_deleted{};
};
/// Only ever adds, but for tags. A parameter that is there already stays as it is.
struct LogToRun {
  model::RunKey run;
  std::vector<model::Metric> metrics{};
  model::TagMap params{};
  model::TagMap tags{};
  std::vector<std::string> lost_tags{};
  std::vector<model::Dataset> datasets{};
  std::vector<std::string> model_inputs{};
  std::vector<model::ModelOutput> model_outputs{};
};
struct PutLoggedModel {
  model::LoggedModel model;
};
struct ChangeLoggedModel {
  model::WorkspaceId workspace;
  std::string id{};
  WallTime at{};
  std::optional<model::LoggedModelStatus> status{};
  std::optional<bool> is_deleted{};
  model::TagMap tags{};
  model::TagMap params{};
  std::vector<std::string> lost_tags{};
};

using TrackingChange = std::variant<PutExperiment, TagExperiment, MarkExperiment, PutRun, ChangeRun,
                                    LogToRun, PutLoggedModel, ChangeLoggedModel>;

enum class LifeView { Active, Deleted, All };

/// What a job reaches of all that is searched: its run, what it made, and its children.
struct JobReach {
  std::string run{};
  std::string experiment{};  ///< Of its run.
  std::int64_t sequence = 0;
};

/// A search and the stretch of its answer that is asked for.
struct Search {
  model::WorkspaceId workspace{};
  std::vector<std::string> experiments{};  ///< Ids; of experiments themselves: all of them.
  LifeView view = LifeView::Active;
  std::optional<JobReach> only{};  ///< Nothing but what this job reaches.
  model::Filter filter{};
  std::vector<model::Ordering> order{};
  std::size_t skip = 0;
  std::size_t limit = 1000;
};

/// A search for logged models may ask for metrics on one of these datasets only.
struct DatasetFilter {
  std::string name{};
  std::string digest{};  ///< Empty: any.
};

/// Points of one metric of a run, by timestamp, step and value.
struct HistoryQuery {
  model::RunKey run{};
  std::string key{};
  std::optional<model::Metric> after{};  ///< Only points that come after this one.
  std::size_t limit = 25'000;
};

struct DatasetSummary {
  std::string experiment{};
  std::string name{};
  std::string digest{};
  std::string context{};
};

/// Reads what was logged, as far as it is committed; only what forbids a change (a name that is
/// taken, a parameter that has a value) also sees what is on its way to the disk. One thread.
class Tracking {
 public:
  virtual ~Tracking() = default;

  virtual Result<std::optional<model::Experiment>> experiment(const model::WorkspaceId& workspace,
                                                              const std::string& id) = 0;
  virtual Result<std::optional<model::Experiment>> experiment_named(
      const model::WorkspaceId& workspace, const std::string& name) = 0;
  virtual Result<bool> is_experiment_name_taken(const model::WorkspaceId& workspace,
                                                const std::string& name) = 0;
  virtual Result<Page<model::Experiment>> experiments(const Search& search) = 0;

  virtual Result<std::optional<model::Run>> run(const model::RunKey& key) = 0;
  virtual Result<std::optional<model::LoggedRun>> logged_run(const model::RunKey& key) = 0;
  virtual Result<Page<model::LoggedRun>> runs(const Search& search) = 0;
  virtual Result<std::optional<std::string>> param(const model::RunKey& run,
                                                   const std::string& key) = 0;
  virtual Result<std::optional<std::string>> tag(const model::RunKey& run,
                                                 const std::string& key) = 0;
  /// How much of it an answer would show: all but the points of its metrics.
  virtual Result<std::size_t> shown_bytes(const model::RunKey& run) = 0;

  // What sweeps, pipelines and pages read of a job: its run bears its name.

  /// The point with the highest step, then timestamp, then value.
  virtual Result<std::optional<model::Metric>> latest_metric(const model::RunKey& run,
                                                             const std::string& key) = 0;
  virtual Result<Page<model::Metric>> history(const HistoryQuery& query) = 0;

  virtual Result<std::vector<DatasetSummary>> datasets(
      const model::WorkspaceId& workspace, const std::vector<std::string>& experiments) = 0;

  virtual Result<std::optional<model::LoggedModel>> logged_model(
      const model::WorkspaceId& workspace, const std::string& id) = 0;
  virtual Result<Page<model::LoggedModel>> logged_models(
      const Search& search, const std::vector<DatasetFilter>& datasets) = 0;
};

}  // namespace berth::store
