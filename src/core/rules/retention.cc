// SPDX-License-Identifier: Apache-2.0
#include "core/rules/retention.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/assets/reference.h"

namespace berth::core {
namespace {

using model::Job;
using model::JobKey;
using model::Retention;
using std::chrono::seconds;

constexpr seconds kLongest = std::chrono::hours(24 * 365 * 100);

bool is_failed(model::JobStatus status) {
  return status == model::JobStatus::Failed || status == model::JobStatus::Canceled;
}

bool has_keep_tag(const Job& job) {
  const auto tag = job.tags.find(model::kKeepTag);
  return tag != job.tags.end() && tag->second != "false";
}

/// Failed ones have a rule of their own, if there is one.
std::optional<seconds> time_of(const Retention& retention, const Job& job) {
  if (is_failed(job.status) && retention.keep_failed) return retention.keep_failed;
  return retention.keep_jobs;
}

bool reads(const model::JobInput& input, const JobKey& job) {
  if (input.uri.find(job.name) == std::string::npos) return false;
  const Result<model::DataRef> reference = model::parse_data_ref(input.uri);
  if (!reference) return false;
  if (const auto* output = std::get_if<model::JobOutputRef>(&*reference)) {
    return output->job == job.name;
  }
  const auto* place = std::get_if<model::DatastorePath>(&*reference);
  return place != nullptr && (place->path.starts_with(model::artifact_prefix(job)) ||
                              place->path.starts_with("azureml/" + job.name + "/"));
}

}  // namespace

Status check_retention(const Retention& retention) {
  const std::pair<const char*, std::optional<seconds>> rules[] = {
      {"keepJobs", retention.keep_jobs},
      {"keepFailed", retention.keep_failed},
      {"keepLogs", retention.keep_logs}};
  for (const auto& [name, time] : rules) {
    if (!time || (*time > seconds(0) && *time <= kLongest)) continue;
    return fail(Code::InvalidArgument,
                fmt::format("{} must be more than nothing and at most a hundred years", name),
                name);
  }
  return Done{};
}

std::optional<WallTime> due_before(const Retention& retention, WallTime now) {
  std::optional<seconds> shortest;
  for (const auto& time : {retention.keep_jobs, retention.keep_failed, retention.keep_logs}) {
    if (time && (!shortest || *time < *shortest)) shortest = time;
  }
  if (!shortest) return std::nullopt;
  return now - *shortest;
}

Fate fate_of(const Retention& retention, const Job& job, WallTime now) {
  if (!model::is_terminal(job.status) || has_keep_tag(job)) return Fate::Keep;
  const WallTime ended = job.ended_at.value_or(job.modified_at);
  const std::optional<seconds> time = time_of(retention, job);
  if (time && ended < now - *time) return Fate::Delete;
  const bool loses_logs = retention.keep_logs && ended < now - *retention.keep_logs;
  return loses_logs ? Fate::DropLogs : Fate::Keep;
}

std::optional<JobKey> reader_of(const State& state, const JobKey& job) {
  for (const auto& [key, live] : state.jobs) {
    if (key.workspace != job.workspace || model::is_terminal(live.status)) continue;
    const bool is_reader = std::ranges::any_of(
        live.spec->inputs, [&](const auto& input) { return reads(input.second, job); });
    if (is_reader) return key;
  }
  return std::nullopt;
}

}  // namespace berth::core
