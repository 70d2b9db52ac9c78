// SPDX-License-Identifier: Apache-2.0
// The process as a whole: which attempts there are, what the server says of them, when to go.
#include "node/core/agent.h"

#include <algorithm>

#include "node/core/turn.h"

namespace berth::node::core {

using wire::node::Phase;

namespace {

constexpr const char* kWithdrawn = "its node was taken back by its site";
constexpr Duration kPatienceAfterStop = std::chrono::seconds(2);

AttemptState* find(Turn& turn, const AttemptRef& ref) {
  const auto found = turn.state.attempts.find(ref);
  return found == turn.state.attempts.end() ? nullptr : &found->second;
}

template <typename Work>
void for_each_attempt(Turn& turn, Work work) {
  for (auto& [ref, attempt] : turn.state.attempts) work(AttemptTurn{turn, attempt});
}

// ---- The queue, and how much of it the node wants to have

bool forget_waiting(Turn& turn, const AttemptRef& ref) {
  return std::erase_if(turn.state.waiting, [&](const auto& each) { return each.attempt == ref; }) >
         0;
}

void return_waiting(Turn& turn) {
  for (const wire::node::Launch& launch : std::exchange(turn.state.waiting, {})) {
    turn.send(wire::node::Returned{launch.attempt});
  }
}

/// Those that were told to run and have a slot now.
void start_waiting(Turn& turn) {
  AgentState& state = turn.state;
  auto at_work = std::ranges::count_if(state.attempts,
                                       [](const auto& entry) { return is_at_work(entry.second); });
  for (; at_work < state.settings.slots && !state.waiting.empty(); ++at_work) {
    wire::node::Launch next = std::move(state.waiting.front());
    state.waiting.pop_front();
    launch(turn, std::move(next));
  }
}

void look_at_pace(Turn& turn);

/// When the row of short attempts is over, what waits here may be waiting for long.
void tell_pace(Turn& turn) {
  const int ahead = turn.state.pace.ahead();
  if (std::exchange(turn.state.told_ahead, ahead) == ahead) return;
  turn.send(wire::node::WorkAhead{ahead});
  if (ahead > 0 && !turn.state.is_looking_at_pace) look_at_pace(turn);
  if (ahead == 0) return_waiting(turn);
}

void look_at_pace(Turn& turn) {
  AgentState& state = turn.state;
  state.is_looking_at_pace = false;
  std::optional<Duration> longest;
  for (const auto& [ref, attempt] : state.attempts) {
    const Duration ran = is_at_work(attempt) ? turn.now.mono - attempt.began : Duration(0);
    longest = std::max(longest.value_or(Duration(0)), ran);
  }
  if (longest || state.waiting.empty()) state.pace.look(longest);
  tell_pace(turn);
  if (state.told_ahead == 0) return;
  state.is_looking_at_pace = true;
  turn.set_timer({Timer::Kind::Pace}, kShortAttempt);
}

// ---- Lease

void write_lease(Turn& turn, std::optional<wire::node::LeaseRenewed> for_message) {
  const bool is_first = !std::exchange(turn.state.has_lease_file, true);
  turn.act(WriteLease{turn.state.lease.deadline(), is_first, std::move(for_message)});
}

void beat(Turn& turn) {
  const auto interval = turn.state.lease.interval();
  if (!interval || !turn.state.is_connected) return turn.act(CancelTimer{{Timer::Kind::Beat}});
  turn.send(turn.state.lease.beat(turn.now.since_boot));
  turn.set_timer({Timer::Kind::Beat}, *interval);
}

/// The supervisors have ended what ran. What is left is only worth something if the server still
/// says so: it is asked anew.
void check_lease(Turn& turn) {
  const bool has_lapsed = turn.state.lease.has_lapsed(turn.now.since_boot);
  if (std::exchange(turn.state.is_lapsed, has_lapsed) || !has_lapsed) return;
  turn.act(Warn{kLeaseLapsed});
  for_each_attempt(turn, [](AttemptTurn at) { lease_lapsed(at); });
  turn.act(Redial{});
}

// ---- When to go

Duration patience(const AgentState& state) {
  const Duration patience = state.settings.lonely_after;
  const bool is_short = !state.settings.is_remote && state.was_server_stopped;
  return is_short ? std::min(patience, kPatienceAfterStop) : patience;
}

bool nothing_runs(const AgentState& state) {
  return std::ranges::none_of(state.attempts,
                              [](const auto& entry) { return is_at_work(entry.second); });
}

/// Its command runs, or a runtime is being made: neither needs the server.
bool goes_on_alone(const AttemptState& attempt) {
  return attempt.phase == Phase::Running || attempt.is_making_runtime;
}

/// Of the work that is left, which no server asks for. On the server's own machine it lies on disk,
/// and the next server starts an agent that takes it up; elsewhere the disk goes with the node.
bool is_kept_in_vain(const AgentState& state, bool is_lonely) {
  if (!state.settings.is_remote) {
    return is_lonely && std::ranges::none_of(state.attempts, [](const auto& entry) {
             return goes_on_alone(entry.second);
           });
  }
  const bool is_unheard =
      state.is_withdrawn ? state.lost_since.has_value() : state.is_lapsed && is_lonely;
  return is_unheard && nothing_runs(state);
}

void end_if_done(Turn& turn) {
  AgentState& state = turn.state;
  if (!state.waiting.empty()) return;
  const bool is_lonely = state.lost_since && turn.now.mono - *state.lost_since >= patience(state);
  if (state.attempts.empty()) {
    if (state.leave_reason) return end(turn, *state.leave_reason);
    if (is_lonely) end(turn, "no server and nothing to do");
    return;
  }
  if (is_kept_in_vain(state, is_lonely)) end(turn, "no server to report to");
}

// ---- What the server says

void heard(Turn& turn, wire::node::Welcome&& message) {
  turn.state.lease.welcomed(message.lease);
  if (!message.lease && !turn.state.has_lease_file) return beat(turn);
  write_lease(turn, std::nullopt);
}

void heard(Turn& turn, wire::node::Launch&& message) {
  if (AttemptState* known = find(turn, message.attempt)) return confirm({turn, *known}, message);
  if (turn.state.is_withdrawn) {
    return turn.send(
        wire::node::Ended{.attempt = message.attempt,
                          .outcome = {.ending = model::Ending::Lost, .message = kWithdrawn}});
  }
  forget_waiting(turn, message.attempt);
  turn.state.waiting.push_back(std::move(message));
  start_waiting(turn);
}

void heard(Turn& turn, wire::node::Go&& message) {
  if (AttemptState* known = find(turn, message.attempt)) go({turn, *known}, message);
}

void heard(Turn& turn, wire::node::LeaseRenewed&& message) {
  turn.state.lease.renewed(message, turn.now.since_boot);
  if (turn.state.has_lease_file) return write_lease(turn, std::move(message));
  if (message.heartbeat == 0) turn.send(wire::node::LeaseNoted{message.lease});
}

void heard(Turn& turn, wire::node::Stop&& message) {
  if (AttemptState* known = find(turn, message.attempt)) return stop({turn, *known});
  model::Outcome outcome{.ending = model::Ending::Lost, .message = "this node does not know of it"};
  if (forget_waiting(turn, message.attempt)) outcome = {.ending = model::Ending::Stopped};
  turn.send(wire::node::Ended{.attempt = message.attempt, .outcome = std::move(outcome)});
}

void heard(Turn& turn, wire::node::Forget&& message) {
  forget_waiting(turn, message.attempt);
  if (AttemptState* known = find(turn, message.attempt)) forget({turn, *known});
}

void heard(Turn& turn, wire::node::LogStored&& message) {
  if (find(turn, message.attempt) == nullptr) return;
  turn.act(NoteLogStored{message.attempt, message.size});
}

void heard(Turn& turn, wire::node::Leave&& message) {
  turn.state.leave_reason = message.reason.empty() ? "told to leave" : message.reason;
  end_if_done(turn);
}

// ---- Events

void happened(Turn& turn, Started&&) {
  turn.state.lost_since = turn.now.mono;
  turn.act(LookAtHouse{});
}

void happened(Turn& turn, Found&& event) { adopt(turn, std::move(event)); }

void happened(Turn& turn, Connected&&) {
  AgentState& state = turn.state;
  state.is_connected = true;
  state.lost_since.reset();
  wire::node::Hello hello{.node = state.settings.node,
                          .version = state.settings.version,
                          .slots = state.settings.slots,
                          .work_root = state.settings.work_root,
                          .address = state.settings.address,
                          .ends_at = state.settings.ends_at,
                          .is_leaving = state.is_withdrawn};
  for (const auto& [ref, attempt] : state.attempts) {
    if (!attempt.is_forgotten) hello.attempts.push_back({ref, attempt.phase});
  }
  state.lease.asked(turn.now.since_boot);
  turn.send(std::move(hello));
  for_each_attempt(turn, [](AttemptTurn at) { connected(at); });
}

void happened(Turn& turn, Disconnected&&) {
  AgentState& state = turn.state;
  state.is_connected = false;
  state.lost_since = turn.now.mono;
  state.waiting.clear();  // Not begun, and so repeated by the server on the next connection.
  state.pace.reset();
  state.told_ahead = 0;
  for_each_attempt(turn, [](AttemptTurn at) { disconnected(at); });
}

void happened(Turn& turn, Heard&& event) {
  check_lease(turn);  // First: an agent that was suspended finds old messages waiting.
  std::visit([&](auto& message) { heard(turn, std::move(message)); }, event.message);
}

void happened(Turn& turn, TimerFired&& event) {
  switch (event.timer.kind) {
    case Timer::Kind::House: return turn.act(LookAtHouse{});
    case Timer::Kind::Beat: return beat(turn);
    case Timer::Kind::Pace: return look_at_pace(turn);
    case Timer::Kind::StartWaiting: return start_waiting(turn);
    case Timer::Kind::Say:
    case Timer::Kind::Renew:
    case Timer::Kind::HeldBack:
    case Timer::Kind::Look:
    case Timer::Kind::Probe: break;
  }
  if (AttemptState* known = find(turn, event.timer.attempt)) {
    timer_fired({turn, *known}, event.timer.kind);
  }
}

void happened(Turn& turn, HouseSeen&& event) {
  if (!event.has_work_root) {
    for_each_attempt(turn, [](AttemptTurn at) { kill(at); });
    return end(turn, "its directory has vanished");
  }
  turn.state.was_server_stopped = event.was_server_stopped;
  check_lease(turn);
  if (turn.state.told_ahead == 0) return_waiting(turn);  // Sent before a new connection, or early.
  end_if_done(turn);
  turn.set_timer({Timer::Kind::House}, turn.state.settings.housekeeping);
}

void happened(Turn& turn, LeaseWritten&& event) {
  // Work that nobody could stop is not begun.
  if (event.not_made) return end(turn, *event.not_made);
  if (!event.for_message) return beat(turn);
  const bool is_unasked = event.for_message->heartbeat == 0;
  if (event.is_written && is_unasked) {
    turn.send(wire::node::LeaseNoted{event.for_message->lease});
  }
}

/// On the server's own machine only the agent goes: supervisors and jobs wait for the next one. A
/// site that takes its machine back takes all of it: the jobs are told, and have until it loses
/// patience to end and to be delivered.
void happened(Turn& turn, ToldToEnd&&) {
  constexpr const char* kReason = "told to by a signal";
  if (!turn.state.settings.is_remote) return end(turn, kReason);
  if (std::exchange(turn.state.is_withdrawn, true)) return;
  turn.state.leave_reason = kReason;
  // First: what is over here must not be given to this node again.
  turn.send(wire::node::Leaving{kWithdrawn});
  return_waiting(turn);
  for_each_attempt(turn, [](AttemptTurn at) { withdraw(at, kWithdrawn); });
  end_if_done(turn);
}

void happened(Turn& turn, Removed&& event) {
  AttemptState* known = find(turn, event.attempt);
  if (known == nullptr) return;
  for (const Timer::Kind kind : {Timer::Kind::Say, Timer::Kind::Renew, Timer::Kind::HeldBack,
                                 Timer::Kind::Look, Timer::Kind::Probe}) {
    turn.act(CancelTimer{{kind, event.attempt}});
  }
  turn.state.attempts.erase(event.attempt);
  end_if_done(turn);
}

template <typename OfAttempt>
void happened(Turn& turn, OfAttempt&& event) {
  if (AttemptState* known = find(turn, event.attempt)) happened(AttemptTurn{turn, *known}, event);
}

}  // namespace

void slot_is_free(Turn& turn, std::optional<Duration> ran) {
  if (ran) turn.state.pace.ended(*ran);
  tell_pace(turn);
  turn.set_timer({Timer::Kind::StartWaiting}, Duration(0));
}

void end(Turn& turn, std::string reason) {
  turn.state.has_ended = true;
  turn.act(End{std::move(reason)});
}

Actions on(AgentState& state, Event event, const Moment& now) {
  Turn turn{state, now};
  if (state.has_ended) return {};
  std::visit([&](auto& one) { happened(turn, std::move(one)); }, event);
  return std::move(turn.actions);
}

}  // namespace berth::node::core
