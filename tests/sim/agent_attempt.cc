// SPDX-License-Identifier: Apache-2.0
// What the agent does with one attempt: src/node/attempt.cc without its files.
#include "sim/agent.h"
#include "sim/agent_later.h"

namespace berth::sim {

using namespace std::chrono_literals;
using model::Ending;
using wire::node::Phase;

void Agent::launch(const Waiting& waiting) {
  const AttemptRef ref = waiting.launch.attempt;
  Kept record{.launch = waiting.launch};
  record.run = {.submission = submission_of(waiting.launch.command),
                .attempt = ref.attempt,
                .node = machine_.spec().id.text,
                .timeline = waiting.timeline};
  machine_.kept()[ref] = std::move(record);
  attempts_[ref] = {.is_confirmed = true, .began = stage_.time.now()};
  prepare(ref);
}

void Agent::adopt(const AttemptRef& ref) {
  attempts_[ref] = {};
  const Kept& record = kept(ref);
  if (!record.was_begun && !record.exit) return;  // Waits until the server confirms it.
  attempts_.at(ref).phase = Phase::Running;
  if (record.exit) later(0ms, [this, ref] { supervisor_ended(ref); });
}

void Agent::advance(const AttemptRef& ref, Phase phase) {
  Attempt& attempt = attempts_.at(ref);
  attempt.phase = phase;
  if (std::exchange(attempt.is_saying, true)) return;
  later(10ms, [this, ref] {
    Attempt* still = find(ref);
    if (still == nullptr || !std::exchange(still->is_saying, false)) return;
    send(wire::node::Advanced{ref, still->phase});
  });
}

void Agent::prepare(const AttemptRef& ref) {
  advance(ref, Phase::Preparing);
  if (behaviour(ref).fetches == 0ms) return prepared(ref);
  attempts_.at(ref).fetching = Transfer::Paused;
  if (attempts_.at(ref).is_confirmed) fetch(ref);
}

void Agent::fetch(const AttemptRef& ref) {
  Attempt& attempt = attempts_.at(ref);
  attempt.fetching = Transfer::Going;
  later(behaviour(ref).fetches, [this, ref, number = ++attempt.transfer_number] {
    Attempt* still = find(ref);
    if (still == nullptr || still->transfer_number != number || still->phase != Phase::Preparing) {
      return;
    }
    still->fetching = Transfer::Done;
    prepared(ref);
  });
}

void Agent::prepared(const AttemptRef& ref) {
  Kept& record = kept(ref);
  if (!record.launch.waits_for_go) return start_supervisor(ref);
  if (record.port == 0) record.port = 1024 + stage_.random.below(60'000);
  attempts_.at(ref).waits_for_go = true;
  send(wire::node::Prepared{ref, "10.0.0.1", record.port});
}

void Agent::start_supervisor(const AttemptRef& ref) {
  advance(ref, Phase::Running);
  attempts_.at(ref).began = stage_.time.now();
  machine_.start_supervisor(ref);
}

void Agent::supervisor_ended(const AttemptRef& ref) {
  Attempt* attempt = find(ref);
  if (attempt == nullptr || attempt->phase != Phase::Running) return;
  if (attempt->began) attempt->ran = stage_.time.now() - *attempt->began;
  finalize(ref, *kept(ref).exit);
}

void Agent::settle(const AttemptRef& ref, model::Outcome outcome) {
  kept(ref).exit = outcome;
  finalize(ref, outcome);
}

void Agent::finalize(const AttemptRef& ref, const model::Outcome& outcome) {
  Attempt& attempt = attempts_.at(ref);
  attempt.waits_for_go = false;
  attempt.outcome = outcome;
  if (is_withdrawn_ && !went_well(outcome)) {
    attempt.outcome = {.ending = Ending::Lost, .message = "its node was taken back by its site"};
  }
  ++attempt.transfer_number;
  advance(ref, Phase::Finalizing);
  over(attempt.ran);
  if (attempt.is_disowned) return report_when_done(ref);
  if (behaviour(ref).delivers == 0ms) {
    attempt.delivering = Transfer::Done;
    return report_when_done(ref);
  }
  attempt.delivering = Transfer::Paused;
  if (attempt.is_confirmed) deliver(ref);
}

void Agent::deliver(const AttemptRef& ref) {
  Attempt& attempt = attempts_.at(ref);
  attempt.delivering = Transfer::Going;
  later(behaviour(ref).delivers, [this, ref, number = ++attempt.transfer_number] {
    Attempt* still = find(ref);
    if (still == nullptr || still->transfer_number != number) return;
    still->delivering = Transfer::Done;
    report_when_done(ref);
  });
}

void Agent::report_when_done(const AttemptRef& ref) {
  Attempt& attempt = attempts_.at(ref);
  const bool is_done = attempt.is_disowned || attempt.delivering == Transfer::Done;
  if (attempt.phase != Phase::Finalizing || !is_done) return;
  attempt.phase = Phase::Ended;
  attempt.is_saying = false;
  report(ref);
}

void Agent::report(const AttemptRef& ref) {
  const Attempt& attempt = attempts_.at(ref);
  if (attempt.is_forgotten) return remove(ref);
  wire::node::Ended ended{.attempt = ref, .outcome = attempt.outcome};
  if (kept(ref).was_begun) ended.since_start = attempt.ran.value_or(1s);
  send(ended);
}

void Agent::confirm(const AttemptRef& ref, const wire::node::Launch&) {
  Attempt& attempt = attempts_.at(ref);
  attempt.is_confirmed = true;
  if (attempt.phase == Phase::Preparing && attempt.fetching == Transfer::None) return prepare(ref);
  if (attempt.phase == Phase::Preparing && attempt.fetching == Transfer::Paused) return fetch(ref);
  if (attempt.phase == Phase::Finalizing && attempt.delivering == Transfer::Paused) deliver(ref);
}

void Agent::stop(const AttemptRef& ref) {
  Attempt& attempt = attempts_.at(ref);
  attempt.is_disowned = attempt.is_disowned || !attempt.is_confirmed;
  if (attempt.phase == Phase::Preparing) {
    settle(ref, {.ending = Ending::Stopped});
  } else if (attempt.phase == Phase::Running) {
    machine_.stop_supervisor(ref);
  }
  report_when_done(ref);
}

void Agent::remove(const AttemptRef& ref) {
  if (std::exchange(attempts_.at(ref).is_removing, true)) return;
  later(stage_.random.between(0ms, 5ms), [this, ref] {
    machine_.kept().erase(ref);
    attempts_.erase(ref);
    end_if_done();
  });
}

}  // namespace berth::sim
