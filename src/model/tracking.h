// SPDX-License-Identifier: Apache-2.0
// What is noted about experiments: MLflow's words. Plain structs.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/job.h"
#include "model/workspace.h"

namespace berth::model {

/// The experiment that every workspace has, and its name, which is that of jobs that name none.
inline constexpr const char* kDefaultExperimentId = "0";
inline constexpr const char* kDefaultExperiment = "Default";

using TagMap = std::map<std::string, std::string>;

/// What runs are gathered under. Jobs name theirs by `experiment_name`.
struct Experiment {
  WorkspaceId workspace{};
  std::string id{};
  std::string name{};
  std::string artifact_location{};  ///< Empty: Berth's own artifact store.
  bool is_deleted = false;
  WallTime created_at{};
  WallTime updated_at{};
  std::int64_t made_by = 0;  ///< The sequence of the job that made it; 0: no job did.
  TagMap tags{};
};

/// In MLflow's order.
enum class RunStatus { Running, Scheduled, Finished, Failed, Killed };

std::string_view text_of(RunStatus status);  ///< "FINISHED".
std::optional<RunStatus> run_status_from(std::string_view text);
RunStatus run_status_of(JobStatus status);

/// A run's id is unique in its workspace; that of a job's run is the job's name.
using RunKey = JobKey;

struct Run {
  RunKey key{};
  std::string experiment{};  ///< Its id.
  std::string name{};
  std::string user{};
  RunStatus status = RunStatus::Running;
  WallTime started_at{};
  std::optional<WallTime> ended_at{};
  bool is_deleted = false;
  bool is_job = false;
  std::string artifact_location{};  ///< Its experiment's.
  std::int64_t made_by = 0;  ///< The sequence of the job whose token made it; 0: no job's did.
};

/// One point of a metric. A value may be infinite, or not a number.
struct Metric {
  std::string key{};
  double value = 0;
  std::int64_t timestamp = 0;  ///< Milliseconds since 1970, as the client says.
  std::int64_t step = 0;
  // Whose it is besides the run's, if anybody's:
  std::string model_id{};
  std::string dataset_name{};
  std::string dataset_digest{};
  std::string run_id{};  ///< Of a model's metric: where it was logged.
};

struct Dataset {
  std::string name{};
  std::string digest{};
  std::string source_type{};
  std::string source{};
  std::string schema{};
  std::string profile{};
  TagMap tags{};  ///< Of the input: "mlflow.data.context" says what it was used for.
};
BOOST_DESCRIBE_STRUCT(Dataset, (), (name, digest, source_type, source, schema, profile, tags))

struct ModelOutput {
  std::string model_id{};
  std::int64_t step = 0;
};

/// A run with all that was logged to it; of each metric, its latest point.
struct LoggedRun {
  Run run{};
  std::vector<Metric> metrics{};
  TagMap params{};
  TagMap tags{};
  std::vector<Dataset> datasets{};
  std::vector<std::string> model_inputs{};
  std::vector<ModelOutput> model_outputs{};
};

enum class LoggedModelStatus { Pending, Ready, UploadFailed };

std::string_view text_of(LoggedModelStatus status);  ///< "LOGGED_MODEL_READY".
std::optional<LoggedModelStatus> logged_model_status_from(std::string_view text);

/// A model as MLflow 3 logs it: a thing of its own beside the run that made it.
struct LoggedModel {
  WorkspaceId workspace{};
  std::string id{};
  std::string experiment{};
  std::string name{};
  std::string type{};
  std::string source_run{};
  LoggedModelStatus status = LoggedModelStatus::Pending;
  std::string status_message{};
  bool is_deleted = false;
  WallTime created_at{};
  WallTime updated_at{};
  std::string artifact_location{};  ///< Its experiment's.
  std::int64_t made_by = 0;         ///< The sequence of the job whose token made it; or 0.
  TagMap params{};
  TagMap tags{};
  std::vector<Metric> metrics{};
};

/// Where the run's and the model's artifacts lie, as MLflow's clients are told:
/// "mlflow-artifacts:/ExperimentRun/dcid.<run>" unless the experiment has a place of its own.
std::string artifact_uri(const Run& run);
std::string artifact_uri(const LoggedModel& model);
std::string artifact_uri(const Experiment& experiment);

}  // namespace berth::model
