// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "io/process/cgroup.h"
#include "io/process/process.h"
#include "model/job.h"
#include "node/shim/lease.h"
#include "node/shim/output.h"
#include "wire/node/message.h"

namespace berth::node {

/// How the command comes into its control group: its supervisor is inside, or it moves.
enum class Entry { Born, Moves };

struct Quarters {
  const io::Cgroup& cgroup;
  Entry entry = Entry::Born;
  std::uint64_t earlier_kills = 0;  ///< For lack of memory, in this group, before the attempt.
};

/// The command's process tree from its start until nothing of it is left.
///
///   Running ──(stop, time over, or the command ended and left processes)──> Terminating
///   Terminating ──(grace over)──> Killing          any ──(nothing left)──> over
///   any ──(the node's lease lapsed)──> Killing
class Supervision {
 public:
  Supervision(const wire::node::Launch& launch, Duration grace, const Quarters& quarters,
              LeaseWatch& lease, Output& output)
      : launch_(launch),
        grace_(grace),
        cgroup_(quarters.cgroup),
        entry_(quarters.entry),
        earlier_kills_(quarters.earlier_kills),
        lease_(lease),
        output_(output) {}

  void add(pid_t command) { commands_.push_back(command); }
  /// Not all of them could be started: those that were are ended.
  void give_up(const Error& why);
  model::Outcome run();
  bool has_killed() const { return phase_ == Phase::Killing; }

 private:
  enum class Phase { Running, Terminating, Killing };

  void reap();
  /// The first to fail speaks for all.
  void note(pid_t ended, int status);
  /// Who is born in our own group descends from us; one of the attempt's own may hold others.
  bool is_over() const;
  void advance(TimePoint now);
  void note_stuck_output(std::string message);
  /// Nobody writes any more. What has found no room gets as long as it would have had before.
  void finish_output();
  bool has_stuck_output() const {
    return !disk_full_.empty() || cause_ == model::Ending::Undelivered;
  }

  void terminate(TimePoint now);
  void kill_all() const;
  /// Descendants, and members of the group that somehow are not.
  std::vector<io::ProcessIdentity> tree() const;
  Duration pause(TimePoint now);
  void wait(Duration at_most);
  model::Outcome outcome() const;
  /// A command that has failed by itself while there is no room has most likely failed for that.
  void check_disk(model::Outcome& outcome) const;
  /// A shell reports a child's SIGKILL as 137.
  void check_memory(model::Outcome& outcome) const;

  const wire::node::Launch& launch_;
  const Duration grace_;  ///< Between SIGTERM and SIGKILL.
  const io::Cgroup& cgroup_;
  const Entry entry_;
  const std::uint64_t earlier_kills_;
  LeaseWatch& lease_;
  Output& output_;
  SystemClock clock_{};
  std::vector<pid_t> commands_{};  ///< Those that have not ended.
  TimePoint started_{};
  std::optional<int> status_{};
  bool has_children_ = true;
  bool stop_requested_ = false;
  Phase phase_ = Phase::Running;
  TimePoint kill_at_{};
  int vain_kills_ = 0;  ///< How often processes were killed and did not die at once.
  std::optional<model::Ending> cause_{};
  std::string message_{};
  std::string disk_full_{};  ///< Which one had no room for the log.
};

}  // namespace berth::node
