// SPDX-License-Identifier: Apache-2.0
// What the files of node/core share and nobody else sees.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "node/core/action.h"
#include "node/core/state.h"

namespace berth::node::core {

/// One call of on(): what is known, the time, and what has been decided so far.
struct Turn {
  AgentState& state;
  const Moment& now;
  Actions actions{};

  void act(Action action) { actions.push_back(std::move(action)); }
  void send(wire::node::ToServer message) { act(Send{std::move(message)}); }
  void set_timer(Timer timer, Duration delay) { act(SetTimer{std::move(timer), delay}); }
};

/// One attempt in such a call.
struct AttemptTurn {
  Turn& turn;
  AttemptState& attempt;

  const AttemptRef& ref() const { return attempt.launch.attempt; }
  const Moment& now() const { return turn.now; }
  const Settings& settings() const { return turn.state.settings; }
};

// agent.cc

/// The command of an attempt runs no more, and ran for so long if it ever did: another may run.
void slot_is_free(Turn& turn, std::optional<Duration> ran);
void end(Turn& turn, std::string reason);

// attempt.cc

void launch(Turn& turn, wire::node::Launch launch);
void adopt(Turn& turn, Found found);
void connected(AttemptTurn at);
void disconnected(AttemptTurn at);
/// The server wants it (still): it may have fresh addresses.
void confirm(AttemptTurn at, const wire::node::Launch& launch);
/// Its peers are ready as well.
void go(AttemptTurn at, const wire::node::Go& message);
/// Without a Launch on this connection it is nobody's any more: ended, and nothing is sent back.
void stop(AttemptTurn at);
void forget(AttemptTurn at);
/// Ends what runs.
void kill(AttemptTurn at);
/// The node's time is over, and not by the server's will: what does not end well is Lost.
void withdraw(AttemptTurn at, const std::string& reason);
/// What has not begun does not begin; what runs is ended by its supervisor.
void lease_lapsed(AttemptTurn at);
/// The server hears of it in a moment, unless the next phase or the end comes first.
void advance(AttemptTurn at, wire::node::Phase phase);
void say_nothing_more(AttemptTurn at);
void timer_fired(AttemptTurn at, Timer::Kind kind);

void happened(AttemptTurn at, const LaidOut& event);
void happened(AttemptTurn at, const Fetched& event);
void happened(AttemptTurn at, const AddressesRefused& event);
void happened(AttemptTurn at, const RuntimePrepared& event);
void happened(AttemptTurn at, const PortsHeld& event);
void happened(AttemptTurn at, const GoNoted& event);
void happened(AttemptTurn at, const SupervisorStarted& event);
void happened(AttemptTurn at, const SupervisorFailed& event);
void happened(AttemptTurn at, const SupervisorEnded& event);
void happened(AttemptTurn at, const CleanedUp& event);

// service.cc

/// Of a service: it needs a port before it can start. NoteGo follows, in the end.
void find_port(AttemptTurn at);
void take_port(AttemptTurn at, int port);
/// Its command runs: whether it answers is found out by and by. Nothing, if it is no service.
void begin_probing(AttemptTurn at, std::optional<model::EndpointState> known);
void end_probing(AttemptTurn at);
void probe(AttemptTurn at);
void say_serving(AttemptTurn at);
void happened(AttemptTurn at, const Probed& event);

// sending.cc

/// An ending that no supervisor wrote down.
void settle(AttemptTurn at, model::Outcome outcome);
/// It runs no more: its log and outputs are sent back, or given up, and then its end is told.
void finalize(AttemptTurn at, const model::Outcome& outcome);
/// An agent before us had sent back all that it could.
void take_up_end(AttemptTurn at, const Exit& exit);
void report_when_done(AttemptTurn at);
void report(AttemptTurn at);
void remove(AttemptTurn at);

void happened(AttemptTurn at, const LogShipped& event);
void happened(AttemptTurn at, const Delivered& event);
void happened(AttemptTurn at, const SendingSeen& event);
void happened(AttemptTurn at, const RoomMeasured& event);
void happened(AttemptTurn at, const SendingGivenUp& event);
void happened(AttemptTurn at, const ResultsFreed& event);

}  // namespace berth::node::core
