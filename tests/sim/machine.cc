// SPDX-License-Identifier: Apache-2.0
#include "sim/machine.h"

#include "sim/agent.h"

namespace berth::sim {

using namespace std::chrono_literals;
using model::Ending;
using wire::node::AttemptRef;

namespace {

constexpr Duration kGrace = 10s;  // As supervisors have it.

}  // namespace

Machine::Machine(Parts parts, target::NodeSpec spec) : parts_(parts), spec_(std::move(spec)) {}

Machine::~Machine() = default;

template <typename Work>
void Machine::later(Duration delay, Work work) {
  parts_.stage.time.after(delay,
                          [alive = std::weak_ptr<int>(alive_), work = std::move(work)]() mutable {
                            if (!alive.expired()) work();
                          });
}

void Machine::start_agent() {
  if (agent_ || is_destroyed_) return;
  parts_.stage.note("agent starts", spec_.id.text);
  agent_ = std::make_unique<Agent>(*this);
  agent_->start();
}

void Machine::kill_agent() {
  if (!agent_) return;
  agent_->die(false);
  agent_.reset();
}

/// The agent says so itself, from the depth of its own calls.
void Machine::agent_ended() {
  later(0ms, [this] {
    kill_agent();
    if (parts_.is_remote) destroy();
  });
}

void Machine::withdraw() {
  if (agent_) agent_->told_to_end();
}

void Machine::destroy() {
  if (std::exchange(is_destroyed_, true)) return;
  parts_.stage.note("machine is gone", spec_.id.text);
  if (agent_) agent_->die(true);
  agent_.reset();
  for (auto& [ref, kept] : kept_) {
    if (std::exchange(kept.runs, false)) {
      parts_.stage.judge.ended(kept.run, {.ending = Ending::Lost});
    }
  }
  kept_.clear();
  alive_ = std::make_shared<int>(0);  // Nothing that was to come, comes.
}

// ---- Supervisors
// ---------------------------------------------------------------------------------

void Machine::start_supervisor(const AttemptRef& attempt) {
  Kept& kept = kept_.at(attempt);
  if (kept.was_begun) return;  // Another agent began it: the supervisor's lock says so.
  const bool dies_at_once = parts_.stage.faults.supervisors_die && parts_.stage.random.chance(5);
  if (dies_at_once) return tell_agent(attempt);  // Before it has begun anything.
  kept.was_begun = true;
  kept.started_at = parts_.stage.wall_time();
  const Duration now = parts_.stage.time.now();
  if (lease_ && *lease_ && now >= **lease_) {
    return finish(attempt, {.ending = Ending::Lost, .message = node::core::kLeaseLapsed});
  }
  kept.runs = true;
  parts_.stage.note("run", spec_.id.text, attempt.job.name, attempt.attempt);
  parts_.stage.judge.started(kept.run);
  const Behaviour& behaviour = parts_.behaviours.at(kept.run.submission);
  later(behaviour.runs, [this, attempt, code = behaviour.exit_code] {
    finish(attempt, {.ending = Ending::Exited, .exit_code = code});
  });
}

void Machine::stop_supervisor(const AttemptRef& attempt) {
  const auto found = kept_.find(attempt);
  if (found == kept_.end() || !found->second.runs) return;
  const bool ignores = parts_.behaviours.at(found->second.run.submission).ignores_sigterm;
  const Duration dies = ignores ? kGrace : parts_.stage.random.between(1ms, 80ms);
  later(dies, [this, attempt] { finish(attempt, {.ending = Ending::Stopped}); });
}

void Machine::finish(const AttemptRef& attempt, model::Outcome outcome) {
  const auto found = kept_.find(attempt);
  if (found == kept_.end() || found->second.exit) return;
  if (std::exchange(found->second.runs, false)) {
    parts_.stage.judge.ended(found->second.run, outcome);
    parts_.stage.note("ran", spec_.id.text, attempt.job.name, attempt.attempt);
  } else if (outcome.ending != Ending::Lost) {
    return;
  }
  found->second.exit = node::core::Exit{std::move(outcome), found->second.started_at};
  tell_agent(attempt);
}

void Machine::tell_agent(const AttemptRef& attempt) {
  later(1ms, [this, attempt] {
    if (agent_) agent_->supervisor_ended(attempt);
  });
}

void Machine::kill_some_supervisor() {
  for (auto& [ref, kept] : kept_) {
    if (!kept.runs) continue;
    parts_.stage.note("supervisor killed", spec_.id.text, ref.job.name, ref.attempt);
    kept.runs = false;  // The agent ends what it left, which is not simulated.
    parts_.stage.judge.ended(kept.run, {.ending = Ending::Lost});
    return tell_agent(ref);
  }
}

void Machine::set_lease(const node::core::Deadline& deadline) {
  lease_ = deadline;
  if (!deadline) return;
  const Duration left = *deadline - parts_.stage.time.now();
  later(std::max(left, 0ms) + parts_.stage.random.between(0ms, 200ms), [this] { look_at_lease(); });
}

void Machine::look_at_lease() {
  if (!lease_ || !*lease_ || parts_.stage.time.now() < **lease_) return;
  std::vector<AttemptRef> running;
  for (const auto& [ref, kept] : kept_) {
    if (kept.runs) running.push_back(ref);
  }
  for (const AttemptRef& ref : running) {
    parts_.stage.note("lease lapsed", spec_.id.text, ref.job.name, ref.attempt);
    finish(ref, {.ending = Ending::Lost, .message = node::core::kLeaseLapsed});
  }
}

}  // namespace berth::sim
