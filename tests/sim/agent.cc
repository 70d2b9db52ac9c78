// SPDX-License-Identifier: Apache-2.0
#include "sim/agent.h"

#include "base/back_off.h"

namespace berth::sim {

using namespace std::chrono_literals;
namespace core = node::core;

namespace {

constexpr BackOff kBackOff{.first = 50ms, .longest = 2s};  // As node/channel.cc has it.

core::Settings settings_of(const Machine& machine) {
  return {.node = machine.spec().id,
          .version = "simulated",
          .slots = machine.spec().slots,
          .work_root = "/work",
          .address = "10.0.0.1",
          .is_remote = machine.parts().is_remote};
}

}  // namespace

Agent::Agent(Machine& machine)
    : machine_(machine), stage_(machine.parts().stage), state_(settings_of(machine)) {}

/// Unless the agent is gone by then.
template <typename Work>
void Agent::later(Duration delay, Work work) {
  stage_.time.after(delay, [alive = std::weak_ptr<int>(alive_), work = std::move(work)]() mutable {
    if (!alive.expired()) work();
  });
}

void Agent::start() {
  for (const auto& [ref, kept] : machine_.kept()) {
    turns_.feed(core::Found{
        .launch = kept.launch, .port = kept.port, .has_supervisor = kept.was_begun || kept.exit});
  }
  dial();
  turns_.feed(core::Started{});
}

void Agent::die(bool with_machine) {
  if (connection_) connection_->die(Connection::Node, with_machine);
  alive_.reset();
}

const Behaviour& Agent::behaviour(const AttemptRef& ref) {
  return machine_.parts().behaviours.at(kept(ref).run.submission);
}

core::Moment Agent::now() const {
  return {.mono = TimePoint(stage_.time.now()),
          .wall = stage_.wall_time(),
          .since_boot = stage_.time.now()};
}

// ---- The connection
// ------------------------------------------------------------------------------

void Agent::dial() {
  machine_.parts().network.dial(machine_.spec().id, [this, alive = std::weak_ptr<int>(alive_)](
                                                        std::shared_ptr<Connection> connection) {
    if (alive.expired()) {
      if (connection) connection->die(Connection::Node, false);
      return;
    }
    if (!connection) return dial_later();
    opened(std::move(connection));
  });
}

void Agent::dial_later() {
  const Duration pause = kBackOff.pause_after(++failures_);
  later(stage_.random.between(pause / 2, pause), [this] { dial(); });
}

void Agent::opened(std::shared_ptr<Connection> connection) {
  connection_ = std::move(connection);
  socket_ = connection_->socket(Connection::Node);
  failures_ = 0;
  socket_->start(
      {.on_message = [this](const std::string& data, bool binary) { received(data, binary); },
       .on_close = [this](const std::string&) { closed(); }});
  turns_.feed(core::Connected{});
}

void Agent::closed() {
  socket_.reset();
  connection_.reset();
  turns_.feed(core::Disconnected{});
  dial_later();
}

void Agent::received(const std::string& data, bool binary) {
  auto message = wire::node::decode_to_node(data, binary);
  if (!message || !*message) return;
  if (auto* launch = std::get_if<wire::node::Launch>(&**message)) told_to_launch(*launch);
  turns_.feed(core::Heard{std::move(**message)});
}

/// What the judge wants to know of it, and what the command's behaviour says it needs.
void Agent::told_to_launch(wire::node::Launch& launch) {
  const Submission submission = submission_of(launch.command, launch.environment);
  launch.fetches.clear();
  if (machine_.parts().behaviours.at(submission).fetches > 0ms) {
    launch.fetches.push_back({.what = "its inputs"});
  }
  if (state_.attempts.contains(launch.attempt)) return;
  timelines_[launch.attempt] = stage_.judge.timeline();
  if (!state_.is_withdrawn) return;
  // One may have been on its way when this node said that it leaves, and one that was to wait here.
  auto& given = given_while_leaving_[stage_.judge.timeline()];
  given.insert(launch.attempt);
  if (given.size() > 2) stage_.judge.blame("a node that leaves was given work again and again");
}

void Agent::perform(const core::Send& action) {
  if (!socket_) return;
  wire::node::Frame frame = wire::node::encode(action.message);
  socket_->send(std::move(frame.data), frame.binary);
}

void Agent::perform(const core::Redial&) {
  if (socket_) socket_->close();
}

// ---- The process as a whole
// ----------------------------------------------------------------------

void Agent::perform(const core::SetTimer& action) {
  timers_[action.timer] = ++last_timer_;
  later(action.delay, [this, timer = action.timer, number = last_timer_] {
    const auto found = timers_.find(timer);
    if (found == timers_.end() || found->second != number) return;
    timers_.erase(found);
    turns_.feed(core::TimerFired{timer});
  });
}

void Agent::perform(const core::WriteLease& action) {
  machine_.set_lease(action.deadline);
  turns_.feed(core::LeaseWritten{.for_message = action.for_message});
}

void Agent::perform(const core::End& action) {
  stage_.note("agent ends:", action.reason, machine_.spec().id.text);
  machine_.agent_ended();
}

// ---- One attempt
// ---------------------------------------------------------------------------------

void Agent::perform(const core::LayOut& action) {
  const AttemptRef& ref = action.attempt;
  const wire::node::Launch& launch = state_.attempts.at(ref).launch;
  machine_.kept()[ref] = {.launch = launch,
                          .run = {.submission = submission_of(launch.command, launch.environment),
                                  .attempt = ref.attempt,
                                  .node = machine_.spec().id.text,
                                  .timeline = timelines_.at(ref)}};
  turns_.feed(core::LaidOut{.attempt = ref});
}

void Agent::note_launch(const AttemptRef& ref) {
  kept(ref).launch = state_.attempts.at(ref).launch;
  kept(ref).port = state_.attempts.at(ref).port;
}

void Agent::perform(const core::NoteGo& action) {
  note_launch(action.attempt);
  turns_.feed(core::GoNoted{.attempt = action.attempt});
}

void Agent::perform(const core::HoldPorts& action) {
  const int port = action.preferred != 0 ? action.preferred : 1024 + stage_.random.below(60'000);
  turns_.feed(core::PortsHeld{.attempt = action.attempt, .port = port});
}

// ---- Its transfers

void Agent::stop(Transfer& transfer, Transfer::State state) {
  ++transfer.number;
  transfer.state = state;
}

void Agent::perform(const core::Fetch& action) {
  stop(transfers_[action.attempt].fetching, Transfer::State::Paused);
}

/// Takes half as long as the fetches: a Stop, a lost connection or the agent's end may come first.
void Agent::perform(const core::PrepareRuntime& action) {
  stop(transfers_[action.attempt].preparing, Transfer::State::Paused);
  resume(action.attempt, &Transfers::preparing, behaviour(action.attempt).fetches / 2,
         core::RuntimePrepared{.attempt = action.attempt});
}

void Agent::perform(const core::CancelRuntime& action) {
  stop(transfers_[action.attempt].preparing, Transfer::State::Over);
}

void Agent::perform(const core::Deliver& action) {
  if (behaviour(action.attempt).delivers == 0ms) {
    return turns_.feed(core::Delivered{.attempt = action.attempt});
  }
  stop(transfers_[action.attempt].delivering, Transfer::State::Paused);
}

void Agent::perform(const core::Resume& action) {
  const Behaviour& behaves = behaviour(action.attempt);
  resume(action.attempt, &Transfers::fetching, behaves.fetches,
         core::Fetched{.attempt = action.attempt});
  resume(action.attempt, &Transfers::delivering, behaves.delivers,
         core::Delivered{.attempt = action.attempt});
}

void Agent::resume(const AttemptRef& ref, Transfer Transfers::*which, Duration takes,
                   core::Event done) {
  Transfer& transfer = transfers_[ref].*which;
  if (transfer.state != Transfer::State::Paused) return;
  transfer.state = Transfer::State::Going;
  later(takes, [this, ref, which, number = transfer.number, done = std::move(done)] {
    const auto found = transfers_.find(ref);
    if (found == transfers_.end() || (found->second.*which).number != number) return;
    (found->second.*which).state = Transfer::State::Over;
    turns_.feed(done);
  });
}

void Agent::perform(const core::Hold& action) {
  Transfers& transfers = transfers_[action.attempt];
  for (Transfer* transfer : {&transfers.fetching, &transfers.delivering}) {
    if (transfer->state == Transfer::State::Going) stop(*transfer, Transfer::State::Paused);
  }
}

void Agent::perform(const core::AbortFetch& action) {
  stop(transfers_[action.attempt].fetching, Transfer::State::Over);
}

void Agent::perform(const core::AbortDelivery& action) {
  stop(transfers_[action.attempt].delivering, Transfer::State::Over);
}

// ---- Its supervisor

void Agent::perform(const core::StartSupervisor& action) {
  started_.insert(action.attempt);
  machine_.start_supervisor(action.attempt);
  turns_.feed(core::SupervisorStarted{action.attempt});
}

void Agent::perform(const core::WatchSupervisor& action) {
  if (kept(action.attempt).runs) return;  // The machine says when it does so no more.
  later(0ms, [this, ref = action.attempt] { supervisor_ended(ref); });
}

/// One that runs answers, most of the time.
void Agent::perform(const core::ProbeService& action) {
  later(stage_.random.between(1ms, 50ms), [this, ref = action.attempt] {
    const auto found = machine_.kept().find(ref);
    const bool runs = found != machine_.kept().end() && found->second.runs;
    turns_.feed(core::Probed{.attempt = ref, .is_good = runs && stage_.random.chance(80)});
  });
}

void Agent::perform(const core::StopSupervisor& action) {
  machine_.stop_supervisor(action.attempt);
}

void Agent::supervisor_ended(const AttemptRef& ref) {
  const auto found = machine_.kept().find(ref);
  if (found == machine_.kept().end()) return;
  turns_.feed(core::SupervisorEnded{.attempt = ref,
                                    .is_ours = started_.contains(ref),
                                    .exit = found->second.exit,
                                    .was_begun = found->second.was_begun});
}

void Agent::perform(const core::CleanUp& action) {
  later(stage_.random.between(1ms, 20ms),
        [this, ref = action.attempt] { turns_.feed(core::CleanedUp{ref}); });
}

void Agent::perform(const core::WriteExit& action) {
  kept(action.attempt).exit = core::Exit{action.outcome, stage_.wall_time()};
}

// ---- What is sent back

void Agent::perform(const core::FinishLog& action) {
  turns_.feed(core::LogShipped{action.attempt});
}

void Agent::perform(const core::LookAtSending& action) {
  const Transfer& delivering = transfers_[action.attempt].delivering;
  turns_.feed(core::SendingSeen{.attempt = action.attempt,
                                .progress = delivering.state == Transfer::State::Over ? 1u : 0u,
                                .has_file_under_way = delivering.state == Transfer::State::Going});
}

void Agent::perform(const core::MeasureRoom& action) {
  turns_.feed(core::RoomMeasured{.attempt = action.attempt});
}

void Agent::perform(const core::GiveUpSending& action) {
  stop(transfers_[action.attempt].delivering, Transfer::State::Over);
  turns_.feed(core::SendingGivenUp{.attempt = action.attempt});
}

void Agent::perform(const core::FreeResults& action) {
  kept(action.attempt).exit = action.exit;
  later(1ms, [this, ref = action.attempt] { turns_.feed(core::ResultsFreed{ref}); });
}

void Agent::perform(const core::Report& action) { perform(core::Send{action.ended}); }

void Agent::perform(const core::Remove& action) {
  const Duration longest = stage_.faults.removal_is_slow ? 2s : 5ms;
  later(stage_.random.between(0ms, longest), [this, ref = action.attempt] {
    machine_.kept().erase(ref);
    transfers_.erase(ref);
    started_.erase(ref);
    timelines_.erase(ref);
    turns_.feed(core::Removed{ref});
  });
}

}  // namespace berth::sim
