// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/engine_keeper.h"

#include "base/back_off.h"
#include "base/log.h"
#include "core/rules/workspace_rules.h"
#include "model/compute_kind.h"
#include "server/fleet/launch.h"
#include "server/plane/attempt.h"

namespace berth::server {

using model::AttemptRef;
using model::ComputeKey;
using model::JobStatus;
using target::AttemptPhase;
using target::ObservedAttempt;
using namespace std::chrono_literals;

namespace {

constexpr Duration kLookAtAttemptsEvery = 1s;
/// Also an engine that has nothing is looked at: a start that was said to have failed may have its
/// effect late.
constexpr Duration kLookAtNothingEvery = 60s;
constexpr BackOff kBackOff{.first = 1s, .longest = 60s};

/// As far as the job is. One that waits in the engine is Starting: a Queued one waits with us.
JobStatus status_of(AttemptPhase phase) {
  switch (phase) {
    case AttemptPhase::Pending: return JobStatus::Starting;
    case AttemptPhase::Preparing: return JobStatus::Preparing;
    case AttemptPhase::Running: return JobStatus::Running;
    case AttemptPhase::Finalizing:
    case AttemptPhase::Ended: break;
  }
  return JobStatus::Finalizing;
}

}  // namespace

// ---- What is wanted ----------------------------------------------------------------------------

std::vector<AttemptRef> EngineKeeper::runs_of(const ComputeKey& compute) const {
  std::vector<AttemptRef> runs;
  const core::State& state = parts_.plane.state();
  const auto index = state.targets.find({compute});
  if (index == state.targets.end()) return runs;
  for (const model::JobKey& job : index->second.engine_runs) {
    runs.push_back(attempt_of(state.jobs.at(job)));
  }
  return runs;
}

bool EngineKeeper::is_wanted(const ComputeKey& compute, const AttemptRef& attempt) const {
  const core::State& state = parts_.plane.state();
  return engine_run(state, compute, attempt) != nullptr &&
         !state.jobs.at(attempt.job).cancel_requested;
}

bool EngineKeeper::is_to_start(const ComputeKey& compute, const AttemptRef& attempt) const {
  return is_wanted(compute, attempt) &&
         !engine_run(parts_.plane.state(), compute, attempt)->is_taken;
}

// ---- A round -----------------------------------------------------------------------------------

void EngineKeeper::reconcile() {
  const auto& computes = parts_.plane.state().computes;
  std::erase_if(kept_, [&](const auto& entry) {
    return !entry.second.is_busy && !computes.contains(entry.first);
  });
  std::vector<ComputeKey> engines;
  for (const auto& [key, compute] : computes) {
    if (model::traits_of(compute).takes_attempts) engines.push_back(key);
  }
  // What a round finds out at once may change the computes.
  for (const ComputeKey& compute : engines) begin_round(compute);
}

bool EngineKeeper::is_due(const ComputeKey& compute, const Kept& kept) const {
  if (kept.is_busy) return false;
  if (!kept.looked_at) return true;
  Duration pause = kLookAtNothingEvery;
  if (kept.has_work || !runs_of(compute).empty()) pause = kLookAtAttemptsEvery;
  if (kept.failures > 0) pause = kBackOff.pause_after(kept.failures);
  return parts_.clock.now().mono - *kept.looked_at >= pause;
}

void EngineKeeper::begin_round(const ComputeKey& key) {
  Kept& kept = kept_[key];
  if (!is_due(key, kept)) return;
  kept.looked_at = parts_.clock.now().mono;
  if (!kept.engine) {
    const auto compute = parts_.plane.state().computes.find(key);
    if (compute == parts_.plane.state().computes.end()) return;
    auto made = parts_.make(compute->second);
    if (!made) {
      ++kept.failures;
      return log::warning("the engine of '{}': {}", key.name, made.error().message);
    }
    kept.engine = std::move(*made);
    kept.thread = parts_.make_thread();
  }
  kept.is_busy = true;
  kept.thread->run([this, key, engine = kept.engine]() -> io::Offload::Continuation {
    const auto seen = engine->observe();
    return [this, key, seen] { observed(key, seen); };
  });
}

void EngineKeeper::observed(const ComputeKey& key,
                            const Result<std::vector<ObservedAttempt>>& observation) {
  Kept& kept = kept_.at(key);
  if (!observation) {
    ++kept.failures;
    kept.is_busy = false;
    return log::warning("the attempts in '{}' could not be observed: {}", key.name,
                        observation.error().message);
  }
  kept.failures = 0;
  Seen seen;
  for (const ObservedAttempt& attempt : *observation) seen[attempt.ref] = attempt;
  record(key, seen);
  Calls calls = calls_after(key, seen);
  kept.has_work = !seen.empty() || !calls.start.empty();
  // The engine is asked for nothing that the disk may not know, and forgets nothing before.
  parts_.plane.ledger.when_durable(
      [this, key, calls = std::move(calls)](const Status& durable) mutable {
        if (!durable) calls = {};
        drop_outdated(key, calls);
        make_calls(key, calls);
      });
}

void EngineKeeper::record(const ComputeKey& key, const Seen& seen) {
  const Together together(parts_.plane.ledger);
  EnginesDesk& desk = parts_.plane.engines;
  for (const AttemptRef& attempt : runs_of(key)) {
    const auto found = seen.find(attempt);
    if (found == seen.end()) {
      // What it never took and nobody wants any more may still come: then it is stopped.
      const bool is_lost = !is_to_start(key, attempt);
      if (is_lost) desk.lost(attempt);
    } else if (found->second.phase == AttemptPhase::Ended) {
      desk.ended(attempt,
                 found->second.outcome.value_or(model::Outcome{.ending = model::Ending::Lost}));
    } else {
      desk.advanced(attempt, status_of(found->second.phase), found->second.note);
    }
  }
}

EngineKeeper::Calls EngineKeeper::calls_after(const ComputeKey& key, const Seen& seen) {
  Calls calls;
  for (const auto& [ref, attempt] : seen) {
    if (is_wanted(key, ref)) continue;
    (attempt.phase == AttemptPhase::Ended ? calls.forget : calls.stop).push_back(ref);
  }
  std::map<AttemptRef, Refusal>& refusals = kept_.at(key).refusals;
  std::erase_if(refusals, [&](const auto& entry) { return !is_to_start(key, entry.first); });
  for (const AttemptRef& attempt : runs_of(key)) {
    if (seen.contains(attempt) || !is_to_start(key, attempt)) continue;
    const auto refusal = refusals.find(attempt);
    const bool is_due =
        refusal == refusals.end() || parts_.clock.now().mono >= refusal->second.next_try;
    if (is_due) calls.start.push_back(attempt);
  }
  return calls;
}

/// Time has passed on the way to the disk. What was not wanted never will be.
void EngineKeeper::drop_outdated(const ComputeKey& key, Calls& calls) const {
  std::erase_if(calls.start, [&](const AttemptRef& attempt) { return !is_to_start(key, attempt); });
}

void EngineKeeper::make_calls(const ComputeKey& key, const Calls& calls) {
  std::vector<target::AttemptSpec> specs;
  for (const AttemptRef& attempt : calls.start) {
    Result<target::AttemptSpec> spec = spec_of(key, attempt);
    if (spec) {
      specs.push_back(*std::move(spec));
    } else {
      parts_.plane.engines.ended(
          attempt, {.ending = model::Ending::NotStarted, .message = spec.error().message});
    }
  }
  const Kept& kept = kept_.at(key);
  kept.thread->run([this, key, engine = kept.engine, specs = std::move(specs), stop = calls.stop,
                    forget = calls.forget]() -> io::Offload::Continuation {
    Results results;
    for (const target::AttemptSpec& spec : specs) {
      results.starts.emplace_back(spec.ref, engine->start(spec));
    }
    const auto note = [&results](const Status& status) {
      if (!status) results.failures.push_back(status.error());
    };
    for (const AttemptRef& attempt : stop) note(engine->stop(attempt));
    for (const AttemptRef& attempt : forget) note(engine->forget(attempt));
    return [this, key, results = std::move(results)] { called(key, results); };
  });
}

Result<target::AttemptSpec> EngineKeeper::spec_of(const ComputeKey& key,
                                                  const AttemptRef& attempt) const {
  const core::State& state = parts_.plane.state();
  const model::Job& job = state.jobs.at(attempt.job);
  const model::Workspace* workspace = core::find_workspace(state, key.workspace);
  if (workspace == nullptr) return fail(Code::NotFound, "its workspace is gone");
  const LaunchContext context{.catalogue = {parts_.store, state, parts_.plane.jobs},
                              .signer = parts_.signer,
                              .base_url = parts_.url,
                              .now = parts_.clock.now().wall};
  return make_spec(context, job, kept_.at(key).engine->root_of(attempt), state.computes.at(key),
                   *workspace);
}

void EngineKeeper::called(const ComputeKey& key, const Results& results) {
  Kept& kept = kept_.at(key);
  kept.is_busy = false;
  for (const Error& error : results.failures) {
    log::warning("an attempt in '{}' could not be ended: {}", key.name, error.message);
  }
  const Together together(parts_.plane.ledger);
  for (const auto& [attempt, outcome] : results.starts) {
    if (outcome) {
      kept.refusals.erase(attempt);
      parts_.plane.engines.advanced(attempt, JobStatus::Starting, "");
      continue;
    }
    log::warning("'{}' did not take an attempt of job '{}': {}", key.name, attempt.job.name,
                 outcome.error().message);
    Refusal& refusal = kept.refusals[attempt];
    refusal.next_try = parts_.clock.now().mono + kBackOff.pause_after(++refusal.times);
    parts_.plane.engines.refused(attempt, outcome.error().message);
  }
}

}  // namespace berth::server
