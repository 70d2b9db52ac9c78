// SPDX-License-Identifier: Apache-2.0
// What events do to attempts that an engine runs (target/engine.h).
#include <fmt/format.h>

#include "core/apply.h"
#include "core/index.h"
#include "model/compute_kind.h"

namespace berth::core {

using model::Ending;
using model::JobStatus;

namespace {

/// The run that a report is about, unless the report is of another attempt or comes late.
model::EngineRun* reported_run(model::Job* job, int attempt) {
  if (job == nullptr || job->attempt != attempt) return nullptr;
  return std::get_if<model::EngineRun>(&job->holding);
}

/// Nobody but us stops an attempt for its user: whoever else did took it from the job.
std::optional<std::string> taken_by(const model::Job& job, const model::EngineRun& run,
                                    const model::Outcome& outcome) {
  if (job.cancel_requested) return std::nullopt;
  const char* what = nullptr;
  if (outcome.ending == Ending::Lost) what = "was lost by";
  if (outcome.ending == Ending::Stopped) what = "was stopped by";
  if (what == nullptr) return std::nullopt;
  return fmt::format("the attempt {} '{}'{}{}", what, run.engine,
                     outcome.message.empty() ? "" : ": ", outcome.message);
}

Touched end_run(State& state, model::Job& job, model::Outcome outcome, WallTime at) {
  const auto taken = taken_by(job, std::get<model::EngineRun>(job.holding), outcome);
  if (taken) job.requeue_reason = *taken;
  move_notes(outcome, job);
  Touched touched = touching<model::Job>(job.key);
  end_attempt(state, job, outcome, taken, at, touched);
  return touched;
}

}  // namespace

Touched on(State& state, const EngineRunStarted& event) {
  model::Job* job = find(state, event.job);
  if (job == nullptr || job->status != JobStatus::Queued) return {};
  const model::Compute* compute = compute_of(state, target_of(*job));
  if (compute == nullptr || !model::traits_of(*compute).takes_attempts) return {};
  unindex(state, *job);
  job->status = JobStatus::Starting;
  job->attempt += 1;
  job->fence = event.fence;
  job->holding = model::EngineRun{.engine = compute->name};
  job->placed_at = event.at;
  job->modified_at = event.at;
  index(state, *job);
  return touching<model::Job>(event.job);
}

Touched on(State& state, const EngineRunAdvanced& event) {
  model::Job* job = find(state, event.job);
  model::EngineRun* run = reported_run(job, event.attempt);
  if (run == nullptr) return {};
  const bool moves = progress(event.phase) > progress(run->phase);
  if (!moves && run->is_taken && run->note == event.note) return {};
  run->is_taken = true;
  run->note = event.note;
  job->modified_at = event.at;
  if (!moves) return touching<model::Job>(event.job);
  run->phase = event.phase;
  if (progress(event.phase) >= progress(JobStatus::Running) && !job->started_at) {
    job->started_at = event.at;
  }
  if (!job->cancel_requested) job->status = event.phase;
  return touching<model::Job>(event.job);
}

Touched on(State& state, const EngineRunRefused& event) {
  model::Job* job = find(state, event.job);
  model::EngineRun* run = reported_run(job, event.attempt);
  if (run == nullptr || run->is_taken || run->note == event.error) return {};
  run->note = event.error;
  return touching<model::Job>(event.job);
}

Touched on(State& state, const EngineRunEnded& event) {
  model::Job* job = find(state, event.job);
  if (reported_run(job, event.attempt) == nullptr) return {};
  return end_run(state, *job, event.outcome, event.at);
}

Touched on(State& state, const EngineRunLost& event) {
  model::Job* job = find(state, event.job);
  if (reported_run(job, event.attempt) == nullptr) return {};
  return end_run(state, *job, {.ending = Ending::Lost}, event.at);
}

}  // namespace berth::core
