// SPDX-License-Identifier: Apache-2.0
#include "server/plane/engines_desk.h"

#include <utility>

#include "server/assets/job_outputs.h"
#include "server/plane/attempt.h"

namespace berth::server {

using model::AttemptRef;

bool EnginesDesk::goes_on(const AttemptRef& attempt) const {
  const auto job = state_.jobs.find(attempt.job);
  return job != state_.jobs.end() && is_current(job->second, attempt) &&
         engine_run_of(job->second) != nullptr;
}

void EnginesDesk::advanced(const AttemptRef& attempt, model::JobStatus phase,
                           const std::string& note) {
  if (!goes_on(attempt)) return;
  parts_.ledger.apply(core::EngineRunAdvanced{.job = attempt.job,
                                              .attempt = attempt.attempt,
                                              .phase = phase,
                                              .note = note,
                                              .at = parts_.clock.now().wall});
  parts_.ledger.flush();
}

void EnginesDesk::refused(const AttemptRef& attempt, const std::string& error) {
  if (!goes_on(attempt)) return;
  parts_.ledger.apply(core::EngineRunRefused{attempt.job, attempt.attempt, error});
  parts_.ledger.flush();
}

void EnginesDesk::ended(const AttemptRef& attempt, const model::Outcome& outcome) {
  if (!goes_on(attempt)) return;
  const WallTime now = parts_.clock.now().wall;
  parts_.ledger.apply(core::EngineRunEnded{
      .job = attempt.job, .attempt = attempt.attempt, .outcome = outcome, .at = now});
  const model::Job& job = state_.jobs.at(attempt.job);
  if (job.status == model::JobStatus::Completed) {
    RegisteredOutputs registered = register_outputs(parts_.store, job, now);
    parts_.ledger.add(std::move(registered.rows));
    if (!registered.warnings.empty()) {
      parts_.ledger.apply(core::JobWarned{attempt.job, std::move(registered.warnings)});
    }
  }
  parts_.decider.decide();
  parts_.ledger.flush();
}

void EnginesDesk::lost(const AttemptRef& attempt) {
  if (!goes_on(attempt)) return;
  parts_.ledger.apply(core::EngineRunLost{attempt.job, attempt.attempt, parts_.clock.now().wall});
  parts_.decider.decide();
  parts_.ledger.flush();
}

}  // namespace berth::server
