// SPDX-License-Identifier: Apache-2.0
// What becomes of an attempt whose command runs no more: its log and outputs go to the server, or
// are given up, and its end is told.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "node/core/turn.h"

namespace berth::node::core {

using model::Ending;
using model::Outcome;
using wire::node::Phase;

namespace {

using namespace std::chrono_literals;

constexpr Duration kLook = 1s;
/// For how long nothing may move. There is no use in waiting for room on a disk that the attempt
/// itself keeps full; for room elsewhere somebody may yet care.
constexpr Duration kPatienceWithoutRoom = 10s;
constexpr Duration kLongestPatience = 10min;
/// Of one that was stopped: a file that is on its way may arrive.
constexpr Duration kPatienceWhenStopped = 3s;
constexpr Duration kPatienceWithAFile = 30s;
constexpr std::size_t kMostNotes = 20;

void add_notes(const std::vector<std::string>& notes, std::vector<std::string>& to) {
  const std::size_t kept = std::min(notes.size(), kMostNotes);
  to.insert(to.end(), notes.begin(), notes.begin() + static_cast<std::ptrdiff_t>(kept));
  if (notes.size() > kMostNotes) {
    to.push_back(fmt::format("{} more files are not kept, or under another name",
                             notes.size() - kMostNotes));
  }
}

/// The server may be waiting for room on the very disk that the job has filled.
void free_scratch(AttemptTurn at) {
  if (std::exchange(at.attempt.has_freed_scratch, true)) return;
  at.turn.act(FreeScratch{at.ref()});
}

/// Nothing of it is needed here any more, but for its end. Another agent must know that first.
void free_results(AttemptTurn at) {
  AttemptState& attempt = at.attempt;
  if (std::exchange(attempt.has_freed_results, true)) return report_when_done(at);
  at.turn.act(FreeResults{at.ref(),
                          {.outcome = attempt.outcome,
                           .started_at = attempt.started_at.value_or(at.now().wall),
                           .is_delivered = true,
                           .delivery_errors = attempt.delivery_errors}});
}

/// What it waits for may be the room that it takes itself: on this machine the server may have no
/// other disk.
void give_up_if_in_the_way(AttemptTurn at, const SendingSeen& seen) {
  AttemptState& attempt = at.attempt;
  const bool is_with_server = !at.settings().is_remote;
  if (!seen.full_disk.empty() || attempt.holds_much.value_or(false)) {
    at.turn.act(GiveUpSending{at.ref()});
  } else if (is_with_server && !attempt.holds_much) {
    at.turn.act(MeasureRoom{at.ref()});
  }
}

/// Nothing has moved for so long.
void give_up_after(AttemptTurn at, Duration waited, const SendingSeen& seen) {
  const AttemptState& attempt = at.attempt;
  const bool has_file = !attempt.is_delivered && seen.has_file_under_way;
  if (attempt.is_stopping) {
    const Duration patience = has_file ? kPatienceWithAFile : kPatienceWhenStopped;
    if (waited >= patience) at.turn.act(GiveUpSending{at.ref()});
    return;
  }
  const bool is_waiting_for_server = !attempt.is_delivered && !seen.lacks_room;
  if (has_file || is_waiting_for_server || waited < kPatienceWithoutRoom) return;
  if (waited >= kLongestPatience) return at.turn.act(GiveUpSending{at.ref()});
  give_up_if_in_the_way(at, seen);
}

void look_at_sending(AttemptTurn at, const SendingSeen& seen) {
  AttemptState& attempt = at.attempt;
  if (attempt.phase == Phase::Ended) {
    // The server may be waiting for room to write its end down, on the disk that it fills.
    if (!seen.full_disk.empty()) free_results(at);
    return;
  }
  const TimePoint now = at.now().mono;
  const bool is_sending = !attempt.is_stopping && seen.has_queue;
  const bool has_moved = std::exchange(attempt.progress, seen.progress) != seen.progress;
  if (has_moved || is_sending || !attempt.is_confirmed) {
    attempt.progress_at = now;
    return;
  }
  const Duration waited = now - attempt.progress_at;
  if (waited >= kLook) free_scratch(at);
  give_up_after(at, waited, seen);
}

}  // namespace

void settle(AttemptTurn at, Outcome outcome) {
  at.turn.act(WriteExit{at.ref(), outcome});
  finalize(at, outcome);
}

void finalize(AttemptTurn at, const Outcome& outcome) {
  AttemptState& attempt = at.attempt;
  if (std::exchange(attempt.holds_ports, false)) at.turn.act(ReleasePorts{at.ref()});
  attempt.outcome = outcome;
  if (!attempt.withdrawn.empty() && !went_well(outcome)) {
    attempt.outcome = {.ending = Ending::Lost, .message = attempt.withdrawn};
  }
  if (attempt.is_fetching) at.turn.act(AbortFetch{at.ref()});
  if (std::exchange(attempt.is_making_runtime, false)) at.turn.act(CancelRuntime{at.ref()});
  advance(at, Phase::Finalizing);
  slot_is_free(at.turn, attempt.ran);
  attempt.is_log_stored = !attempt.launch.ships_log;
  if (attempt.launch.ships_log) at.turn.act(FinishLog{at.ref()});
  if (attempt.is_disowned) return report_when_done(at);
  at.turn.act(Deliver{at.ref(), went_well(attempt.outcome)});
  if (attempt.is_confirmed) at.turn.act(Resume{at.ref()});
  attempt.progress_at = at.now().mono;
  at.turn.act(LookAtSending{at.ref()});
}

void take_up_end(AttemptTurn at, const Exit& exit) {
  AttemptState& attempt = at.attempt;
  attempt.outcome = exit.outcome;
  attempt.delivery_errors = exit.delivery_errors;
  attempt.is_delivered = attempt.is_log_stored = attempt.has_freed_results = true;
  at.turn.act(GiveUpLog{at.ref()});
  attempt.phase = Phase::Finalizing;
  slot_is_free(at.turn, attempt.ran);
  report_when_done(at);
}

void happened(AttemptTurn at, const LogShipped&) {
  at.attempt.is_log_stored = true;
  report_when_done(at);
}

void happened(AttemptTurn at, const Delivered& event) {
  AttemptState& attempt = at.attempt;
  if (attempt.phase != Phase::Finalizing || attempt.is_delivered) return;
  attempt.delivery_errors.insert(attempt.delivery_errors.end(), event.errors.begin(),
                                 event.errors.end());
  add_notes(event.notes, attempt.outcome.notes);
  attempt.is_delivered = true;
  report_when_done(at);
}

void happened(AttemptTurn at, const SendingSeen& event) {
  if (std::exchange(at.attempt.was_looked_at, true)) {
    look_at_sending(at, event);
  } else if (!event.full_disk.empty()) {
    free_scratch(at);
  }
  at.turn.set_timer({Timer::Kind::Look, at.ref()}, kLook);
}

void happened(AttemptTurn at, const RoomMeasured& event) {
  at.attempt.holds_much = event.holds_much;
  if (event.holds_much) at.turn.act(GiveUpSending{at.ref()});
}

void happened(AttemptTurn at, const SendingGivenUp& event) {
  AttemptState& attempt = at.attempt;
  if (attempt.phase != Phase::Finalizing) return;
  std::vector<std::string> lost;
  if (!attempt.is_log_stored) {
    lost.push_back(fmt::format("{} of its log", human_bytes(event.unsent_log)));
  }
  if (!attempt.is_delivered) {
    lost.emplace_back("some of its outputs");
    add_notes(event.notes, attempt.outcome.notes);
  }
  const std::string trouble = fmt::format("{} could not be kept", fmt::join(lost, " and "));
  at.turn.act(Warn{fmt::format("'{}': {}", wire::node::attempt_directory(at.ref()), trouble)});
  Outcome& outcome = attempt.outcome;
  if (attempt.is_stopping) outcome.ending = Ending::Stopped;
  if (!event.full_disk.empty()) outcome.disk_full = event.full_disk;
  if (outcome.disk_full.empty()) outcome.disk_full = "the disk of the server";
  outcome.message += (outcome.message.empty() ? "" : "; ") + trouble;
  attempt.is_delivered = attempt.is_log_stored = true;
  // First: the server needs room for what it has.
  free_results(at);
}

void happened(AttemptTurn at, const ResultsFreed&) { report_when_done(at); }

// ---- Its end

void report_when_done(AttemptTurn at) {
  AttemptState& attempt = at.attempt;
  const bool is_done = attempt.is_disowned || (attempt.is_delivered && attempt.is_log_stored);
  if (attempt.phase != Phase::Finalizing || !is_done) return;
  at.turn.act(AbortDelivery{at.ref()});
  attempt.phase = Phase::Ended;
  say_nothing_more(at);
  report(at);
}

void report(AttemptTurn at) {
  const AttemptState& attempt = at.attempt;
  if (attempt.is_forgotten) return remove(at);
  wire::node::Ended ended{at.ref(), attempt.outcome, 0, attempt.delivery_errors, {}};
  if (attempt.started_at) {
    ended.since_start = std::max(at.now().wall - *attempt.started_at, Duration(0));
  }
  at.turn.act(Report{at.ref(), std::move(ended)});
}

void remove(AttemptTurn at) {
  AttemptState& attempt = at.attempt;
  if (std::exchange(attempt.is_removing, true)) return;
  // Long enough for jobs whose directories are worth keeping, too short to hand them to somebody
  // who writes there when the job is over: a container, a daemon that was there before.
  at.turn.act(Remove{at.ref(), attempt.ran && *attempt.ran <= kShortAttempt});
}

}  // namespace berth::node::core
