// SPDX-License-Identifier: Apache-2.0
#include "sim/engine_site.h"

#include <fmt/format.h>

namespace berth::sim {

using namespace std::chrono_literals;
using model::AttemptRef;
using model::Ending;
using target::AttemptPhase;

namespace {

class SimEngine final : public target::Engine {
 public:
  SimEngine(Stage& stage, EngineSite& site, std::weak_ptr<int> caller)
      : stage_(stage), site_(site), caller_(std::move(caller)), timeline_(stage.judge.timeline()) {}

  std::string root_of(const AttemptRef& ref) const override { return site_.root_of(ref); }

  Status start(const target::AttemptSpec& spec) override {
    // The request of a server that has died meanwhile.
    if (caller_.expired()) return site_.start(spec, timeline_, EngineSite::Arrival::Late);
    TRY(fail_early());
    if (stage_.happens(stage_.faults.provider_lies)) return start_late(spec);
    const model::Job* job = site_.wanted(spec.ref);
    const model::EngineRun* run = job == nullptr ? nullptr : engine_run_of(*job);
    if (run == nullptr || run->is_taken) {
      stage_.judge.blame(fmt::format("attempt {} of job '{}' is started, and is not to be",
                                     spec.ref.attempt, spec.ref.job.name));
    }
    TRY(site_.start(spec, timeline_, EngineSite::Arrival::InTime));
    return fail_late();
  }
  Result<std::vector<target::ObservedAttempt>> observe() override {
    TRY(fail_early());
    return site_.observe();
  }
  Result<target::LogPart> read_log(const AttemptRef&, std::uint64_t) override {
    return fail(Code::Unavailable, "nobody reads logs here");
  }
  Status stop(const AttemptRef& ref) override {
    TRY(fail_early());
    const model::Job* job = site_.wanted(ref);
    if (is_of_now() && job != nullptr && !job->cancel_requested) {
      stage_.judge.blame(fmt::format("attempt {} of job '{}' is stopped, and is wanted",
                                     ref.attempt, ref.job.name));
    }
    TRY(site_.stop(ref));
    return fail_late();
  }
  Status forget(const AttemptRef& ref) override {
    TRY(fail_early());
    if (is_of_now() && site_.wanted(ref) != nullptr) {
      stage_.judge.blame(fmt::format("attempt {} of job '{}' is forgotten before its end is kept",
                                     ref.attempt, ref.job.name));
    }
    TRY(site_.forget(ref));
    return fail_late();
  }

 private:
  bool is_of_now() const { return timeline_ == stage_.judge.timeline(); }

  Status start_late(const target::AttemptSpec& spec) {
    ++stage_.faulted_calls;
    for (int times = 1 + stage_.random.below(2); times > 0; --times) {
      stage_.time.after(stage_.random.between(0ms, 20s),
                        [&site = site_, spec, timeline = timeline_] {
                          (void)site.start(spec, timeline, EngineSite::Arrival::Late);
                        });
    }
    return fail(Code::Unavailable, "timed out");
  }
  Status fail_early() {
    if (!stage_.happens(stage_.faults.provider_fails)) return Done{};
    ++stage_.faulted_calls;
    return fail(Code::Unavailable, "the engine does not answer");
  }
  Status fail_late() {
    if (!stage_.happens(stage_.faults.provider_fails_late)) return Done{};
    ++stage_.faulted_calls;
    return fail(Code::Unavailable, "timed out");
  }

  Stage& stage_;
  EngineSite& site_;
  std::weak_ptr<int> caller_;
  int timeline_;
};

}  // namespace

EngineSite::EngineSite(Stage& stage, const Behaviours& behaviours)
    : stage_(stage),
      behaviours_(behaviours),
      attempts_(std::make_shared<target::fake::FakeAttempts>()),
      fake_(attempts_) {
  attempts_->on_start = [this](target::fake::FakeAttempts&, const target::AttemptSpec& spec) {
    begin(spec);
  };
}

std::unique_ptr<target::Engine> EngineSite::engine(std::weak_ptr<int> caller) {
  return std::make_unique<SimEngine>(stage_, *this, std::move(caller));
}

const model::Job* EngineSite::wanted(const AttemptRef& ref) const {
  const auto job = stage_.judge.jobs().find(ref.job);
  if (job == stage_.judge.jobs().end() || engine_run_of(job->second) == nullptr) return nullptr;
  const bool is_it = job->second.attempt == ref.attempt && job->second.fence == ref.fence;
  return is_it ? &job->second : nullptr;
}

// ---- The life of an attempt --------------------------------------------------------------------

template <typename Work>
void EngineSite::later(Duration delay, const AttemptRef& ref, Work work) {
  stage_.time.after(delay, [this, ref, number = lives_.at(ref).number, work] {
    const auto life = lives_.find(ref);
    if (life == lives_.end() || life->second.number != number) return;
    if (attempts_->attempts.at(ref).phase != AttemptPhase::Ended) work(life->second);
  });
}

Status EngineSite::start(const target::AttemptSpec& spec, int timeline, Arrival arrival) {
  timeline_ = timeline;
  arrival_ = arrival;
  return fake_.start(spec);
}

void EngineSite::begin(const target::AttemptSpec& spec) {
  const AttemptRef& ref = spec.ref;
  stage_.note(arrival_ == Arrival::Late ? "engine starts late" : "engine starts", ref.job.name, "",
              ref.attempt);
  const Submission submission = submission_of(spec.plan.command, spec.plan.environment);
  Life& life = lives_[ref];
  life = {.run = {.submission = submission,
                  .attempt = ref.attempt,
                  .node = fmt::format("{}/{}", kEngine, losses_[ref]),
                  .timeline = timeline_},
          .behaviour = behaviours_.at(submission),
          .arrival = arrival_,
          .number = ++last_number_};
  attempts_->advance(ref, AttemptPhase::Pending);
  const Duration waits = stage_.random.between(0ms, 2s);
  later(waits, ref, [this, ref](Life&) { attempts_->advance(ref, AttemptPhase::Preparing); });
  later(waits + life.behaviour.fetches, ref, [this, ref](Life& its) { run(ref, its); });
}

void EngineSite::run(const AttemptRef& ref, Life& life) {
  attempts_->advance(ref, AttemptPhase::Running);
  life.runs = true;
  life.arrival == Arrival::Late ? stage_.judge.started_late(life.run)
                                : stage_.judge.started(life.run);
  fall_behind(ref);
  later(life.behaviour.runs, ref, [this, ref](Life& its) { finish(ref, its); });
}

void EngineSite::finish(const AttemptRef& ref, Life& life) {
  const model::Outcome outcome{.exit_code = life.behaviour.exit_code};
  life.runs = false;
  stage_.judge.ended(life.run, outcome);
  attempts_->advance(ref, AttemptPhase::Finalizing);
  fall_behind(ref);
  later(life.behaviour.delivers, ref,
        [this, ref, outcome](Life&) { attempts_->end(ref, outcome); });
}

void EngineSite::fall_behind(const AttemptRef& ref) {
  if (!stage_.happens(stage_.faults.engine_is_behind)) return;
  attempts_->hold_back(ref);
  later(stage_.random.between(1s, 40s), ref, [this, ref](Life&) { attempts_->let_go(ref); });
}

void EngineSite::stop_running(const AttemptRef& ref, Ending ending) {
  const auto life = lives_.find(ref);
  if (life == lives_.end() || !std::exchange(life->second.runs, false)) return;
  stage_.judge.ended(life->second.run, {.ending = ending});
}

// ---- Calls -------------------------------------------------------------------------------------

Status EngineSite::stop(const AttemptRef& ref) {
  stage_.note("engine stops", ref.job.name, "", ref.attempt);
  TRY(fake_.stop(ref));
  attempts_->attempts.contains(ref) ? attempts_->let_go(ref) : void();
  stop_running(ref, Ending::Stopped);
  return Done{};
}

Status EngineSite::forget(const AttemptRef& ref) {
  stage_.note("engine forgets", ref.job.name, "", ref.attempt);
  TRY(fake_.forget(ref));
  lives_.erase(ref);
  return Done{};
}

// ---- Harm --------------------------------------------------------------------------------------

void EngineSite::harm_something() {
  const auto& all = attempts_->attempts;
  if (all.empty()) return;
  const auto chosen = std::next(all.begin(), stage_.random.below(static_cast<int>(all.size())));
  const AttemptRef ref = chosen->first;
  if (stage_.random.chance(50)) {
    stage_.note("engine evicts", ref.job.name, "", ref.attempt);
    stop_running(ref, Ending::Stopped);
    return attempts_->end(ref, {.ending = Ending::Stopped, .message = "evicted"});
  }
  stage_.note("engine loses", ref.job.name, "", ref.attempt);
  stop_running(ref, Ending::Lost);
  attempts_->lose(ref);
  lives_.erase(ref);
  ++losses_[ref];
}

void EngineSite::find_peace() {
  for (auto& [ref, attempt] : attempts_->attempts) attempt.held_back.reset();
}

std::vector<std::string> EngineSite::leftovers() const {
  std::vector<std::string> names;
  for (const auto& [ref, attempt] : attempts_->attempts) {
    names.push_back(fmt::format("{}/{}", kEngine, ref.job.name));
  }
  return names;
}

}  // namespace berth::sim
