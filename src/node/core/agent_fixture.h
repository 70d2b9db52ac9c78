// SPDX-License-Identifier: Apache-2.0
// Plays events to node/core, with a machine on which everything works at once unless told not to.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node/core/agent.h"

namespace berth::node::core {

class PlayedAgent : public testing::Test {
 protected:
  using Phase = wire::node::Phase;

  explicit PlayedAgent(bool is_remote = false, int slots = 2)
      : state({.node = {"n1"}, .slots = slots, .address = "10.0.0.7", .is_remote = is_remote}) {}

  static AttemptRef ref(const std::string& job, int attempt = 1, const std::string& fence = "f") {
    return {{{"w"}, job}, attempt, fence};
  }
  static wire::node::Launch launch_of(const std::string& job) {
    return {{.command = "true"}, ref(job)};
  }

  void feed(Event event) { turns.feed(std::move(event)); }
  void hear(wire::node::ToNode message) { feed(Heard{std::move(message)}); }
  void fire(Timer::Kind kind, const AttemptRef& attempt = {}) { feed(TimerFired{{kind, attempt}}); }
  void pass(Duration time) {
    moment.mono += time;
    moment.wall += time;
    moment.since_boot += time;
  }
  void start() {
    feed(Started{});
    feed(Connected{});
  }
  void run(const std::string& job) {
    hear(launch_of(job));
    ASSERT_EQ(phase(job), Phase::Running);
  }
  void exit(const std::string& job, model::Outcome outcome = {}) {
    feed(SupervisorEnded{.attempt = ref(job),
                         .is_ours = true,
                         .exit = Exit{.outcome = std::move(outcome), .started_at = moment.wall},
                         .was_begun = true});
  }
  Phase phase(const std::string& job) const { return state.attempts.at(ref(job)).phase; }

  /// What was done of this kind since the last forget_all(), in order.
  template <typename T>
  std::vector<T> did() const {
    std::vector<T> found;
    for (const Action& action : done) {
      if (const T* one = std::get_if<T>(&action)) found.push_back(*one);
    }
    return found;
  }
  /// What was said of this kind; of ends, also those that are reported with their log.
  template <typename T>
  std::vector<T> said() const {
    std::vector<T> found;
    for (const Action& action : done) {
      const auto* sent = std::get_if<Send>(&action);
      const T* one = sent == nullptr ? nullptr : std::get_if<T>(&sent->message);
      if (one != nullptr) found.push_back(*one);
      if constexpr (std::is_same_v<T, wire::node::Ended>) {
        if (const auto* report = std::get_if<Report>(&action)) found.push_back(report->ended);
      }
    }
    return found;
  }
  void forget_all() { done.clear(); }

  AgentState state;
  Moment moment{TimePoint(std::chrono::hours(1)), WallTime(std::chrono::hours(9)),
                std::chrono::hours(2)};
  Actions done{};
  bool answers_runtime = true;   ///< PrepareRuntime.
  bool answers_starts = true;    ///< StartSupervisor.
  bool answers_delivery = true;  ///< Deliver.
  std::optional<std::string> lease_trouble{};
  bool writes_lease = true;
  bool has_work_root = true;
  SendingSeen sending{};

 private:
  friend class Turns<PlayedAgent>;

  Moment now() const { return moment; }
  template <typename T>
  void perform(const T& action) {
    done.push_back(action);
    answer(action);
  }
  template <typename T>
  void answer(const T&) {}
  void answer(const LookAtHouse&) { feed(HouseSeen{.has_work_root = has_work_root}); }
  void answer(const WriteLease& action) {
    feed(LeaseWritten{lease_trouble, writes_lease, action.for_message});
  }
  void answer(const LayOut& action) { feed(LaidOut{.attempt = action.attempt}); }
  void answer(const NoteGo& action) { feed(GoNoted{.attempt = action.attempt}); }
  void answer(const PrepareRuntime& action) {
    if (answers_runtime) feed(RuntimePrepared{.attempt = action.attempt});
  }
  void answer(const HoldPorts& action) {
    const int port = action.preferred == 0 ? 4000 : action.preferred;
    feed(PortsHeld{.attempt = action.attempt, .port = port});
  }
  void answer(const StartSupervisor& action) {
    if (answers_starts) feed(SupervisorStarted{action.attempt});
  }
  void answer(const FinishLog& action) { feed(LogShipped{action.attempt}); }
  void answer(const Deliver& action) {
    if (answers_delivery) feed(Delivered{.attempt = action.attempt});
  }
  void answer(const LookAtSending& action) {
    sending.attempt = action.attempt;
    feed(sending);
  }
  void answer(const GiveUpSending& action) { feed(SendingGivenUp{.attempt = action.attempt}); }
  void answer(const FreeResults& action) { feed(ResultsFreed{action.attempt}); }

  Turns<PlayedAgent> turns{state, *this};
};

}  // namespace berth::node::core
