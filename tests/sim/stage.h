// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "sim/judge.h"
#include "sim/timeline.h"

namespace berth::sim {

/// What can go wrong, and how often. Percent are of the calls or moments concerned. A seed switches
/// each of them on or off for the whole of its world, so that rare combinations meet often.
struct Faults {
  bool connections_break = false;
  bool partitions = false;
  bool agents_die = false;
  bool machines_die = false;
  bool supervisors_die = false;
  bool server_crashes = false;
  bool server_stops = false;  ///< In good order, for a while.
  bool disk_fails = false;
  bool disk_is_slow = false;
  bool wall_clock_jumps = false;
  bool backup_restored = false;
  bool site_takes_back = false;  ///< SIGTERM to an agent whose machine its site wants.
  int provider_fails = 0;        ///< Does nothing and says so.
  int provider_fails_late = 0;   ///< Acts, and says that it did not.
  int provider_lies = 0;         ///< Does nothing, and says that it did.
  int provider_is_slow = 0;
  bool removal_is_slow = false;  ///< Of what an attempt has left on its machine.
  int boots_fail = 0;            ///< The machine comes, its agent never does.
  bool engine_loses = false;     ///< Attempts vanish, or are stopped and nobody asked for it.
  int engine_is_behind = 0;      ///< Says for a while what was so before.
};

/// What all parts of one world share.
struct Stage {
  explicit Stage(std::uint64_t seed) : random(seed), judge(journal) {}

  void note(const char* what, std::string who = {}, std::string whose = {}, int number = 0) {
    journal.note(time.now(), what, std::move(who), std::move(whose), number);
  }
  /// What the wall clock of every machine shows.
  WallTime wall_time() const { return WallTime(kEpoch + time.now() + wall_offset); }
  bool happens(int percent) { return percent > 0 && random.chance(percent); }

  Timeline time;
  Random random;
  Journal journal;
  Judge judge;
  Faults faults;
  Duration wall_offset{0};
  std::uint64_t faulted_calls = 0;  ///< Of providers.
};

}  // namespace berth::sim
