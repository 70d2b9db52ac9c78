// SPDX-License-Identifier: Apache-2.0
// What is decided of a service while it runs: its port, whether it answers, how the server gets to
// it.
#include <algorithm>

#include "node/core/turn.h"

namespace berth::node::core {

using model::EndpointState;
using wire::node::Phase;

namespace {

/// Between probes of one that is not ready yet.
constexpr Duration kWhileItStarts(250);

Duration pause_between_probes(const AttemptState& attempt) {
  const Duration period = attempt.launch.service->probe.period;
  const bool is_starting =
      attempt.endpoint.value_or(EndpointState::Starting) == EndpointState::Starting;
  return is_starting ? std::min(period, kWhileItStarts) : period;
}

void become(AttemptTurn at, EndpointState state) {
  if (at.attempt.endpoint == state) return;
  at.attempt.endpoint = state;
  say_serving(at);
}

/// The server reaches a node of its own machine by itself. What is spare stays open when the
/// service falters: by then it is the server that uses it or not.
void open_way(AttemptTurn at) {
  if (!at.settings().is_remote || std::exchange(at.attempt.has_way, true)) return;
  at.turn.act(OpenWay{at.ref(), at.attempt.port});
}

}  // namespace

void find_port(AttemptTurn at) {
  const int wanted = at.attempt.launch.service->port;
  // It may well have connections of its own that linger, which do not keep a service from it.
  if (wanted != 0) return take_port(at, wanted);
  at.turn.act(HoldPorts{.attempt = at.ref(), .preferred = at.attempt.port, .is_loopback = true});
}

void take_port(AttemptTurn at, int port) {
  at.attempt.port = port;
  at.attempt.holds_ports = true;
  at.attempt.launch.environment["BERTH_SERVICE_PORT"] = std::to_string(port);
  at.turn.act(NoteGo{at.ref()});
}

void begin_probing(AttemptTurn at, std::optional<EndpointState> known) {
  if (!at.attempt.launch.service) return;
  at.attempt.endpoint = known;
  at.attempt.failed_probes = 0;
  if (known) say_serving(at);
  at.turn.set_timer({Timer::Kind::Probe, at.ref()}, at.attempt.launch.service->probe.initial_delay);
}

void end_probing(AttemptTurn at) {
  if (!at.attempt.launch.service) return;
  at.turn.act(CancelTimer{{Timer::Kind::Probe, at.ref()}});
  if (std::exchange(at.attempt.has_way, false)) at.turn.act(CloseWay{at.ref()});
}

void probe(AttemptTurn at) {
  if (at.attempt.phase == Phase::Running) at.turn.act(ProbeService{at.ref(), at.attempt.port});
}

void say_serving(AttemptTurn at) {
  if (at.attempt.phase != Phase::Running || !at.attempt.endpoint) return;
  at.turn.send(wire::node::Serving{at.ref(), {*at.attempt.endpoint, at.attempt.port}});
}

void happened(AttemptTurn at, const Probed& event) {
  AttemptState& attempt = at.attempt;
  if (attempt.phase != Phase::Running || !attempt.launch.service) return;
  if (event.is_good) {
    attempt.failed_probes = 0;
    become(at, EndpointState::Ready);
    open_way(at);
  } else if (++attempt.failed_probes >= attempt.launch.service->probe.failure_threshold &&
             attempt.endpoint != EndpointState::Starting) {
    become(at, EndpointState::NotReady);
  }
  at.turn.set_timer({Timer::Kind::Probe, at.ref()}, pause_between_probes(attempt));
}

}  // namespace berth::node::core
