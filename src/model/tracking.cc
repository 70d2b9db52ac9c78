// SPDX-License-Identifier: Apache-2.0
#include "model/tracking.h"

#include <fmt/format.h>

#include <array>

namespace berth::model {
namespace {

constexpr std::array<std::pair<RunStatus, std::string_view>, 5> kRunStatuses = {{
    {RunStatus::Running, "RUNNING"},
    {RunStatus::Scheduled, "SCHEDULED"},
    {RunStatus::Finished, "FINISHED"},
    {RunStatus::Failed, "FAILED"},
    {RunStatus::Killed, "KILLED"},
}};

constexpr std::array<std::pair<LoggedModelStatus, std::string_view>, 3> kModelStatuses = {{
    {LoggedModelStatus::Pending, "LOGGED_MODEL_PENDING"},
    {LoggedModelStatus::Ready, "LOGGED_MODEL_READY"},
    {LoggedModelStatus::UploadFailed, "LOGGED_MODEL_UPLOAD_FAILED"},
}};

template <typename Table, typename Status>
std::string_view word_of(const Table& table, Status status) {
  for (const auto& [value, text] : table) {
    if (value == status) return text;
  }
  return {};
}

template <typename Status, typename Table>
std::optional<Status> value_of(const Table& table, std::string_view word) {
  for (const auto& [value, text] : table) {
    if (text == word) return value;
  }
  return std::nullopt;
}

/// The experiment's own place, without a slash at its end.
std::string_view place_of(std::string_view location) {
  while (location.ends_with('/')) location.remove_suffix(1);
  return location;
}

}  // namespace

std::string_view text_of(RunStatus status) { return word_of(kRunStatuses, status); }

std::optional<RunStatus> run_status_from(std::string_view text) {
  return value_of<RunStatus>(kRunStatuses, text);
}

RunStatus run_status_of(JobStatus status) {
  switch (status) {
    case JobStatus::NotStarted:
    case JobStatus::Starting:
    case JobStatus::Provisioning:
    case JobStatus::Preparing:
    case JobStatus::Queued: return RunStatus::Scheduled;
    case JobStatus::Completed: return RunStatus::Finished;
    case JobStatus::Failed: return RunStatus::Failed;
    case JobStatus::Canceled: return RunStatus::Killed;
    case JobStatus::Running:
    case JobStatus::Finalizing:
    case JobStatus::CancelRequested:
    case JobStatus::NotResponding:
    case JobStatus::Paused:
    case JobStatus::Unknown: break;
  }
  return RunStatus::Running;
}

std::string_view text_of(LoggedModelStatus status) { return word_of(kModelStatuses, status); }

std::optional<LoggedModelStatus> logged_model_status_from(std::string_view text) {
  return value_of<LoggedModelStatus>(kModelStatuses, text);
}

std::string artifact_uri(const Run& run) {
  if (!run.artifact_location.empty() && !run.is_job) {
    return fmt::format("{}/{}/artifacts", place_of(run.artifact_location), run.key.name);
  }
  std::string prefix = artifact_prefix(run.key);
  return "mlflow-artifacts:/" + std::string(place_of(prefix));
}

std::string artifact_uri(const LoggedModel& model) {
  if (!model.artifact_location.empty()) {
    return fmt::format("{}/models/{}/artifacts", place_of(model.artifact_location), model.id);
  }
  return fmt::format("mlflow-artifacts:/LoggedModels/{}/artifacts", model.id);
}

std::string artifact_uri(const Experiment& experiment) {
  if (!experiment.artifact_location.empty()) return experiment.artifact_location;
  return "mlflow-artifacts:/ExperimentRun";
}

}  // namespace berth::model
