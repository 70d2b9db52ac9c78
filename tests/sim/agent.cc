// SPDX-License-Identifier: Apache-2.0
// The agent's process and its connection; agent_attempt.cc has what it does with one attempt.
#include "sim/agent.h"

#include <algorithm>

#include "sim/agent_later.h"

namespace berth::sim {

using namespace std::chrono_literals;
using model::Ending;
using wire::node::Phase;

namespace {

constexpr Duration kLonelyAfter = 60s;
constexpr Duration kHousekeeping = 1s;
constexpr Duration kLongestPause = 2s;
constexpr const char* kWithdrawn = "its node was taken back by its site";

}  // namespace

Agent::Agent(Machine& machine)
    : machine_(machine), stage_(machine.parts().stage), pace_(machine.spec().slots) {}

void Agent::start() {
  for (const auto& [ref, kept] : machine_.kept()) adopt(ref);
  lost_since_ = stage_.time.now();
  dial();
  keep_house();
}

void Agent::die(bool with_machine) {
  if (connection_) connection_->die(Connection::Node, with_machine);
  alive_.reset();
}

Agent::Attempt* Agent::find(const AttemptRef& ref) {
  const auto found = attempts_.find(ref);
  return found == attempts_.end() ? nullptr : &found->second;
}

const Behaviour& Agent::behaviour(const AttemptRef& ref) {
  return machine_.parts().behaviours.at(kept(ref).run.submission);
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
  later(stage_.random.between(pause_ / 2, pause_), [this] { dial(); });
  pause_ = std::min(pause_ * 2, kLongestPause);
}

void Agent::opened(std::shared_ptr<Connection> connection) {
  connection_ = std::move(connection);
  socket_ = connection_->socket(Connection::Node);
  lost_since_.reset();
  pause_ = 50ms;
  socket_->start(
      {.on_message = [this](const std::string& data, bool binary) { received(data, binary); },
       .on_close = [this](const std::string&) { closed(); }});
  const target::NodeSpec& spec = machine_.spec();
  wire::node::Hello hello{.node = spec.id,
                          .version = "simulated",
                          .slots = spec.slots,
                          .work_root = "/work",
                          .address = "10.0.0.1",
                          .is_leaving = is_withdrawn_};
  for (const auto& [ref, attempt] : attempts_) {
    if (!attempt.is_forgotten) hello.attempts.push_back({ref, attempt.phase});
  }
  lease_.asked(stage_.time.now());
  send(hello);
  for (const auto& [ref, attempt] : attempts_) {
    if (attempt.phase == Phase::Ended) {
      if (!attempt.is_forgotten) report(ref);
    } else if (attempt.waits_for_go) {
      send(wire::node::Prepared{ref, "10.0.0.1", kept(ref).port});
    }
  }
}

void Agent::closed() {
  socket_.reset();
  connection_.reset();
  lost_since_ = stage_.time.now();
  waiting_.clear();
  pace_.reset();
  told_ahead_ = 0;
  for (auto& [ref, attempt] : attempts_) {
    attempt.is_confirmed = false;
    ++attempt.transfer_number;
    for (Transfer* transfer : {&attempt.fetching, &attempt.delivering}) {
      if (*transfer == Transfer::Going) *transfer = Transfer::Paused;
    }
  }
  dial_later();
}

void Agent::redial() {
  if (socket_) socket_->close();
}

void Agent::send(const wire::node::ToServer& message) {
  if (!socket_) return;
  wire::node::Frame frame = wire::node::encode(message);
  socket_->send(std::move(frame.data), frame.binary);
}

void Agent::received(const std::string& data, bool binary) {
  const auto message = wire::node::decode_to_node(data, binary);
  if (!message || !*message) return;
  check_lease();
  std::visit([this](const auto& said) { on(said); }, **message);
}

// ---- What the server says
// ------------------------------------------------------------------------

void Agent::on(const wire::node::Welcome& message) {
  lease_.welcomed(message.lease);
  if (message.lease) has_lease_file_ = true;
  if (has_lease_file_) machine_.set_lease(lease_.deadline());
  beat();
}

void Agent::on(const wire::node::Launch& message) {
  if (find(message.attempt) != nullptr) return confirm(message.attempt, message);
  if (is_withdrawn_) {
    // One may have been on its way when this node said that it leaves.
    auto& given = given_while_leaving_[stage_.judge.timeline()];
    given.insert(message.attempt);
    if (given.size() > 1) stage_.judge.blame("a node that leaves was given work again and again");
    return send(wire::node::Ended{.attempt = message.attempt,
                                  .outcome = {.ending = Ending::Lost, .message = kWithdrawn}});
  }
  forget_waiting(message.attempt);
  waiting_.push_back({message, stage_.judge.timeline()});
  start_waiting();
}

void Agent::on(const wire::node::Go& message) {
  Attempt* attempt = find(message.attempt);
  if (attempt == nullptr) return;
  Kept& record = kept(message.attempt);
  if (attempt->phase != Phase::Preparing || !record.launch.waits_for_go) return;
  record.launch.waits_for_go = false;
  if (!std::exchange(attempt->waits_for_go, false)) return;  // Still fetching, after a restart.
  start_supervisor(message.attempt);
}

void Agent::on(const wire::node::LeaseRenewed& message) {
  lease_.renewed(message, stage_.time.now());
  if (has_lease_file_) machine_.set_lease(lease_.deadline());
  if (message.heartbeat == 0) send(wire::node::LeaseNoted{message.lease});
}

void Agent::on(const wire::node::Stop& message) {
  if (find(message.attempt) != nullptr) return stop(message.attempt);
  model::Outcome outcome{.ending = Ending::Lost, .message = "this node does not know of it"};
  if (forget_waiting(message.attempt)) outcome = {.ending = Ending::Stopped};
  send(wire::node::Ended{.attempt = message.attempt, .outcome = outcome});
}

void Agent::on(const wire::node::Forget& message) {
  forget_waiting(message.attempt);
  Attempt* attempt = find(message.attempt);
  if (attempt == nullptr) return;
  attempt->is_forgotten = true;
  if (attempt->phase == Phase::Ended) return remove(message.attempt);
  attempt->is_confirmed = false;
  stop(message.attempt);
}

void Agent::on(const wire::node::Leave& message) {
  leave_reason_ = message.reason;
  end_if_done();
}

// ---- Queue and pace
// ------------------------------------------------------------------------------

void Agent::start_waiting() {
  auto at_work = std::ranges::count_if(attempts_, [](const auto& entry) {
    return entry.second.phase == Phase::Preparing || entry.second.phase == Phase::Running;
  });
  for (; at_work < machine_.spec().slots && !waiting_.empty(); ++at_work) {
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    launch(next);
  }
}

bool Agent::forget_waiting(const AttemptRef& ref) {
  return std::erase_if(waiting_, [&](const auto& each) { return each.launch.attempt == ref; }) > 0;
}

void Agent::over(std::optional<Duration> ran) {
  if (ran) pace_.ended(*ran);
  tell_pace();
  later(0ms, [this] { start_waiting(); });
}

void Agent::tell_pace() {
  const int ahead = pace_.ahead();
  if (std::exchange(told_ahead_, ahead) == ahead) return;
  send(wire::node::WorkAhead{ahead});
  if (ahead > 0 && !looks_at_pace_) look_at_pace();
  if (ahead == 0) return_waiting();
}

void Agent::return_waiting() {
  for (const Waiting& each : std::exchange(waiting_, {})) {
    send(wire::node::Returned{each.launch.attempt});
  }
}

void Agent::look_at_pace() {
  looks_at_pace_ = false;
  std::optional<Duration> longest;
  for (const auto& [ref, attempt] : attempts_) {
    const bool is_at_work = attempt.phase == Phase::Preparing || attempt.phase == Phase::Running;
    const Duration ran = is_at_work ? stage_.time.now() - attempt.began.value_or(0ms) : 0ms;
    longest = std::max(longest.value_or(0ms), ran);
  }
  if (longest || waiting_.empty()) pace_.look(longest);
  tell_pace();
  if (told_ahead_ == 0) return;
  looks_at_pace_ = true;
  later(node::kShortAttempt, [this] { look_at_pace(); });
}

// ---- Lease, and when to go
// -----------------------------------------------------------------------

void Agent::beat() {
  const int number = ++beats_;
  const auto interval = lease_.interval();
  if (!interval || !socket_) return;
  send(lease_.beat(stage_.time.now()));
  later(*interval, [this, number] {
    if (number == beats_) beat();
  });
}

void Agent::check_lease() {
  const bool has_lapsed = lease_.has_lapsed(stage_.time.now());
  if (std::exchange(is_lapsed_, has_lapsed) || !has_lapsed) return;
  std::vector<AttemptRef> preparing;
  for (const auto& [ref, attempt] : attempts_) {
    if (attempt.phase == Phase::Preparing) preparing.push_back(ref);
  }
  for (const AttemptRef& ref : preparing) {
    settle(ref, {.ending = Ending::Lost, .message = node::kLeaseLapsed});
  }
  redial();
}

void Agent::keep_house() {
  check_lease();
  if (told_ahead_ == 0) return_waiting();
  end_if_done();
  later(kHousekeeping, [this] { keep_house(); });
}

bool Agent::nothing_runs() const {
  return std::ranges::all_of(attempts_, [](const auto& entry) {
    return entry.second.phase == Phase::Finalizing || entry.second.phase == Phase::Ended;
  });
}

void Agent::end_if_done() {
  if (!waiting_.empty()) return;
  const bool is_lonely = lost_since_ && stage_.time.now() - *lost_since_ >= kLonelyAfter;
  if (attempts_.empty()) {
    if (leave_reason_) return end("told to leave");
    if (is_lonely) end("lonely");
    return;
  }
  const bool is_in_vain = is_withdrawn_ ? lost_since_.has_value() : is_lapsed_ && is_lonely;
  if (machine_.parts().is_remote && is_in_vain && nothing_runs()) end("in vain");
}

void Agent::told_to_end() {
  if (!machine_.parts().is_remote) return end("signal");
  if (std::exchange(is_withdrawn_, true)) return;
  leave_reason_ = "signal";
  send(wire::node::Leaving{kWithdrawn});
  return_waiting();
  std::vector<AttemptRef> all;
  for (const auto& [ref, attempt] : attempts_) all.push_back(ref);
  for (const AttemptRef& ref : all) {
    if (attempts_.at(ref).phase == Phase::Preparing) {
      settle(ref, {.ending = Ending::Lost, .message = kWithdrawn});
    } else if (attempts_.at(ref).phase == Phase::Running) {
      machine_.stop_supervisor(ref);
    }
  }
  end_if_done();
}

void Agent::end(const char* why) {
  stage_.note("agent ends:", why, machine_.spec().id.text);
  machine_.agent_ended();
}

}  // namespace berth::sim
