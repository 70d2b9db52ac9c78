// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sim/cloud.h"
#include "sim/disk.h"
#include "sim/network.h"
#include "sim/sim_server.h"
#include "sim/users.h"

namespace berth::sim {

/// One seed's world: everything a Berth is made of and everything that happens to it.
class World {
 public:
  World(std::uint64_t seed, Outside& outside, Bug bug = Bug::None);
  ~World();

  /// Trouble for a while, as the seed has it, then peace. Says what was wrong, if anything was.
  std::optional<std::string> live();
  std::optional<std::string> live(const Faults& faults);

  // For tests that write a history of their own.

  Stage& stage() { return stage_; }
  Users& users() { return users_; }
  Cloud& cloud() { return cloud_; }
  Network& network() { return network_; }
  SimServer* server() { return server_.get(); }
  void start_server();
  void crash_server();
  /// In good order: it ends when its nodes have heard of it, or soon after.
  void stop_server();
  /// Lets so much time pass.
  void pass(Duration time);
  template <typename Condition>
  bool pass_until(Condition condition, Duration at_most);
  /// No more faults: everything must come to its end.
  void find_peace();
  void back_up();
  /// The server dies, and the next one finds the disk as it was when it was backed up.
  void restore();
  std::string journal() const { return stage_.journal.text(); }
  std::uint64_t events() const { return stage_.journal.count(); }

 private:
  Faults choose_faults();
  void trouble();
  void do_harm();
  Machine* some_machine();
  void step();
  bool is_at_peace();
  std::string what_is_left();

  Stage stage_;
  Outside& outside_;
  Bug bug_;
  Behaviours behaviours_{};
  Network network_;
  Cloud cloud_;
  EngineSite engine_;
  Disk disk_{};
  Users users_;
  std::unique_ptr<SimServer> server_{};
  int servers_ = 0;  ///< How many there have been.
  std::optional<Disk> backup_{};
  std::shared_ptr<const Judge::Memory> remembered_{};
  bool is_restored_ = false;
  bool is_troubled_ = false;
};

template <typename Condition>
bool World::pass_until(Condition condition, Duration at_most) {
  const Duration end = stage_.time.now() + at_most;
  while (!stage_.judge.verdict() && stage_.time.now() < end) {
    if (condition()) return true;
    step();
  }
  return condition();
}

}  // namespace berth::sim
