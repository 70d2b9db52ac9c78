// SPDX-License-Identifier: Apache-2.0
// What is decided of one attempt until its command has ended, and what the server says of it.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "node/core/turn.h"

namespace berth::node::core {

using model::Ending;
using model::Outcome;
using wire::node::Launch;
using wire::node::Phase;

namespace {

constexpr Duration kOnItsWay(500);
constexpr Duration kMoment(10);
constexpr Duration kRenewing = std::chrono::seconds(2);
constexpr int kMostStarts = 3;

AttemptTurn add_attempt(Turn& turn, Launch launch) {
  // Only the node knows where it keeps the authority that vouches for the server.
  const std::string& authority = turn.state.settings.authority;
  if (!authority.empty()) launch.environment["MLFLOW_TRACKING_SERVER_CERT_PATH"] = authority;
  AttemptState& attempt = turn.state.attempts[launch.attempt];
  attempt = AttemptState{.launch = std::move(launch)};
  return {turn, attempt};
}

void say_prepared(AttemptTurn at) {
  at.turn.send(wire::node::Prepared{at.ref(), at.settings().address, at.attempt.port});
}

void start_supervisor(AttemptTurn at) {
  ++at.attempt.starts;
  for (const auto& [name, value] : at.attempt.launch.secrets) {
    if (!value.empty()) continue;
    return settle(at, {.ending = Ending::NotStarted,
                       .message = fmt::format("the secret for '{}' is not known any more", name)});
  }
  at.turn.act(StartSupervisor{at.ref()});
}

void prepared(AttemptTurn at) {
  if (at.attempt.launch.service) return find_port(at);
  if (!at.attempt.launch.waits_for_go) return start_supervisor(at);
  const auto count = std::max<std::size_t>(at.attempt.launch.processes.size(), 1);
  at.turn.act(HoldPorts{at.ref(), static_cast<int>(count), std::exchange(at.attempt.port, 0)});
}

/// After the fetches, since what a runtime is made of may be among them.
void prepare_runtime(AttemptTurn at) {
  at.attempt.is_making_runtime = true;
  at.turn.act(PrepareRuntime{at.ref()});
}

void prepare(AttemptTurn at) {
  advance(at, Phase::Preparing);
  if (at.attempt.launch.fetches.empty()) return prepare_runtime(at);
  at.attempt.is_fetching = true;
  at.turn.act(Fetch{at.ref()});
  if (at.attempt.is_confirmed) at.turn.act(Resume{at.ref()});
}

void stop_renewing(AttemptTurn at) {
  if (!std::exchange(at.attempt.is_renewing, false)) return;
  at.turn.act(CancelTimer{{Timer::Kind::Renew, at.ref()}});
}

/// A site that takes its node back may send SIGTERM to all of its processes at once. What the job
/// died of may thus be the same signal that is on its way to us.
bool may_be_taken_back(AttemptTurn at, const Outcome& outcome) {
  const bool is_sigterm = (outcome.ending == Ending::Signaled && outcome.signal == SIGTERM) ||
                          (outcome.ending == Ending::Exited && outcome.exit_code == 128 + SIGTERM);
  return at.settings().is_remote && is_sigterm && at.attempt.withdrawn.empty();
}

/// What was killed had not begun: the command never ran, and cannot any more.
void begin_again(AttemptTurn at) {
  if (at.attempt.is_confirmed) return start_supervisor(at);
  at.attempt.phase = Phase::Preparing;  // Until the server says Launch again.
  at.attempt.is_fetching = false;
}

}  // namespace

void launch(Turn& turn, Launch launch) {
  const AttemptTurn at = add_attempt(turn, std::move(launch));
  at.attempt.is_confirmed = true;
  at.attempt.began = turn.now.mono;
  turn.act(LayOut{at.ref()});
}

void adopt(Turn& turn, Found found) {
  const AttemptTurn at = add_attempt(turn, std::move(found.launch));
  at.attempt.port = found.port;
  if (!found.is_of_this_boot) {
    settle(at, {.ending = Ending::Lost, .message = "the machine was restarted"});
  } else if (found.has_supervisor) {
    at.attempt.phase = Phase::Running;
    begin_probing(at, std::nullopt);
    turn.act(WatchSupervisor{at.ref()});
  }
}

void advance(AttemptTurn at, Phase phase) {
  at.attempt.phase = phase;
  if (std::exchange(at.attempt.is_saying, true)) return;
  at.turn.set_timer({Timer::Kind::Say, at.ref()}, kMoment);
}

void say_nothing_more(AttemptTurn at) {
  if (!std::exchange(at.attempt.is_saying, false)) return;
  at.turn.act(CancelTimer{{Timer::Kind::Say, at.ref()}});
}

void timer_fired(AttemptTurn at, Timer::Kind kind) {
  switch (kind) {
    case Timer::Kind::Say:
      if (!std::exchange(at.attempt.is_saying, false)) return;
      return at.turn.send(wire::node::Advanced{at.ref(), at.attempt.phase});
    case Timer::Kind::Renew:
      // An older server: it repeats every Launch on a new connection.
      if (std::exchange(at.attempt.is_renewing, false)) at.turn.act(Redial{});
      return;
    case Timer::Kind::HeldBack:
      if (at.attempt.phase == Phase::Running && at.attempt.held_back) {
        finalize(at, at.attempt.held_back->outcome);
      }
      return;
    case Timer::Kind::Look:
      if (!at.attempt.is_forgotten) at.turn.act(LookAtSending{at.ref()});
      return;
    case Timer::Kind::Probe: return probe(at);
    case Timer::Kind::House:
    case Timer::Kind::Beat:
    case Timer::Kind::Pace:
    case Timer::Kind::StartWaiting: return;
  }
}

// ---- Preparing

void happened(AttemptTurn at, const LaidOut& event) {
  if (at.attempt.phase != Phase::Preparing) return;
  if (!event.error) return prepare(at);
  settle(at, {.ending = Ending::NotStarted, .message = *event.error});
}

void happened(AttemptTurn at, const Fetched& event) {
  if (at.attempt.phase != Phase::Preparing) return;
  if (!event.error) return prepare_runtime(at);
  settle(at, {.ending = Ending::NotStarted, .message = *event.error});
}

void happened(AttemptTurn at, const RuntimePrepared& event) {
  at.attempt.is_making_runtime = false;
  if (at.attempt.phase != Phase::Preparing) return;
  if (!event.error) return prepared(at);
  settle(at, {.ending = Ending::NotStarted, .message = *event.error});
}

/// Others that use the connection notice nothing of it.
void happened(AttemptTurn at, const AddressesRefused&) {
  at.turn.send(wire::node::Renew{at.ref()});
  if (std::exchange(at.attempt.is_renewing, true)) return;
  at.turn.set_timer({Timer::Kind::Renew, at.ref()}, kRenewing);
}

void happened(AttemptTurn at, const PortsHeld& event) {
  if (at.attempt.phase != Phase::Preparing) return;
  if (event.error) {
    return settle(at, {.ending = Ending::NotStarted, .message = *event.error});
  }
  if (at.attempt.launch.service) return take_port(at, event.port);
  at.attempt.port = event.port;
  at.attempt.holds_ports = true;
  at.turn.act(NoteLaunch{at.ref()});
  say_prepared(at);
}

void go(AttemptTurn at, const wire::node::Go& message) {
  Launch& launch = at.attempt.launch;
  if (at.attempt.phase != Phase::Preparing || !launch.waits_for_go) return;
  launch.waits_for_go = false;
  for (const auto& [name, value] : message.environment) launch.environment[name] = value;
  const std::size_t count = std::min(message.processes.size(), launch.processes.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (const auto& [name, value] : message.processes[i]) {
      launch.processes[i].environment[name] = value;
    }
  }
  at.turn.act(NoteGo{at.ref()});
}

void happened(AttemptTurn at, const GoNoted& event) {
  if (at.attempt.phase != Phase::Preparing) return;
  if (event.error) {
    return settle(at, {.ending = Ending::NotStarted, .message = *event.error});
  }
  if (!std::exchange(at.attempt.holds_ports, false)) return;  // Still fetching, after a restart.
  at.turn.act(ReleasePorts{at.ref()});
  start_supervisor(at);
}

// ---- Running

void happened(AttemptTurn at, const SupervisorStarted&) {
  advance(at, Phase::Running);
  at.attempt.began = at.now().mono;
  begin_probing(at, model::EndpointState::Starting);
}

void happened(AttemptTurn at, const SupervisorFailed& event) {
  if (event.needs_new_agent) return end(at.turn, event.error);
  settle(at, {.ending = Ending::NotStarted, .message = event.error});
}

void happened(AttemptTurn at, const SupervisorEnded& event) {
  AttemptState& attempt = at.attempt;
  if (attempt.phase != Phase::Running) return;
  end_probing(at);
  if (event.is_ours) attempt.ran = at.now().mono - attempt.began;
  if (event.exit) {
    attempt.started_at = event.exit->started_at;
    if (event.exit->is_delivered) return take_up_end(at, *event.exit);
    if (!may_be_taken_back(at, event.exit->outcome)) return finalize(at, event.exit->outcome);
    attempt.held_back = event.exit;
    at.turn.set_timer({Timer::Kind::HeldBack, at.ref()}, kOnItsWay);
  } else if (!event.was_begun && !event.full_disk.empty()) {
    settle(at, {.ending = Ending::NotStarted, .message = event.full_disk + " is full"});
  } else if (event.was_begun || attempt.starts >= kMostStarts || attempt.is_stopping) {
    at.turn.act(CleanUp{at.ref()});
  } else {
    begin_again(at);
  }
}

void happened(AttemptTurn at, const CleanedUp&) {
  if (at.attempt.phase != Phase::Running) return;
  settle(at, {.ending = Ending::Lost, .message = "the process that supervised it was killed"});
}

// ---- What the server says

void connected(AttemptTurn at) {
  if (at.attempt.phase == Phase::Ended) {
    if (!at.attempt.is_forgotten) report(at);
    return;
  }
  if (at.attempt.launch.ships_log) at.turn.act(AskForLog{at.ref()});
  if (at.attempt.holds_ports) say_prepared(at);
  say_serving(at);
}

void disconnected(AttemptTurn at) {
  at.attempt.is_confirmed = false;
  stop_renewing(at);
  at.turn.act(Hold{at.ref()});
}

void confirm(AttemptTurn at, const Launch& launch) {
  AttemptState& attempt = at.attempt;
  attempt.is_confirmed = true;
  stop_renewing(at);
  // Only addresses may differ: the attempt itself never changes.
  Launch& own = attempt.launch;
  if (launch.fetches.size() == own.fetches.size()) own.fetches = launch.fetches;
  if (launch.deliveries.size() == own.deliveries.size()) own.deliveries = launch.deliveries;
  for (const auto& [name, value] : launch.secrets) own.secrets[name] = value;
  at.turn.act(NoteLaunch{at.ref()});
  const bool is_preparing = attempt.is_fetching || attempt.is_making_runtime;
  if (attempt.phase == Phase::Preparing && !is_preparing) return prepare(at);
  at.turn.act(Resume{at.ref()});
}

void stop(AttemptTurn at) {
  AttemptState& attempt = at.attempt;
  attempt.is_disowned = attempt.is_disowned || !attempt.is_confirmed;
  if (attempt.phase == Phase::Preparing) {
    settle(at, {.ending = Ending::Stopped});
  } else if (attempt.phase == Phase::Running) {
    kill(at);
  }
  attempt.is_stopping = true;  // What is being sent back has to come to an end, too.
  report_when_done(at);
}

void forget(AttemptTurn at) {
  at.attempt.is_forgotten = true;
  if (at.attempt.phase == Phase::Ended) return remove(at);
  at.attempt.is_confirmed = false;
  stop(at);
}

void kill(AttemptTurn at) {
  at.attempt.is_stopping = true;
  at.turn.act(StopSupervisor{at.ref()});
}

void withdraw(AttemptTurn at, const std::string& reason) {
  at.attempt.withdrawn = reason;
  if (at.attempt.phase == Phase::Preparing) {
    return settle(at, {.ending = Ending::Lost, .message = reason});
  }
  if (at.attempt.phase == Phase::Running) kill(at);
}

void lease_lapsed(AttemptTurn at) {
  if (at.attempt.phase != Phase::Preparing) return;
  settle(at, {.ending = Ending::Lost, .message = kLeaseLapsed});
}

}  // namespace berth::node::core
