// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/attempt.h"

namespace berth::target {

/// What an attempt needs of the machine it runs on; 0: unsaid.
struct AttemptResources {
  double cores = 0;
  std::int64_t memory_mib = 0;
  int gpus = 0;
};

/// All that an engine needs to run an attempt.
struct AttemptSpec {
  model::AttemptRef ref{};
  model::LaunchPlan plan{};  ///< Made for the root that Engine::root_of() names.
  AttemptResources resources{};
  std::string image{};  ///< What the command runs in; empty: what the engine has.
};

enum class AttemptPhase {
  Pending,     ///< The engine has it and has no room for it yet.
  Preparing,   ///< Its image or its files are being brought.
  Running,     ///< The command.
  Finalizing,  ///< The command is over; its outputs are being delivered.
  Ended,
};

struct ObservedAttempt {
  model::AttemptRef ref{};
  AttemptPhase phase = AttemptPhase::Pending;
  std::optional<model::Outcome> outcome{};  ///< Of one that has ended, and of no other.
  std::string note{};                       ///< For people: why it is pending, where it runs.
};

/// A piece of the log.
struct LogPart {
  std::string bytes{};   ///< From the offset that was asked for on; an engine may give less.
  bool is_last = false;  ///< The attempt has ended, and nothing follows these bytes.
};

/// Something that takes whole attempts and runs them without an agent of ours: Kubernetes, AWS
/// Batch. Beside NodeProvider, which starts nodes that then take attempts.
///
/// Calls may block for seconds; they are made from a worker thread, never two at once on one
/// object, so an implementation needs no locks. It remembers nothing: what it knows of attempts is
/// in the engine itself, for any other object of it to find. Every implementation passes
/// tests/contract; that file is the full definition.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Where the root of an attempt is when its command runs: an absolute path, the same at every
  /// call. The plan of the attempt is made for it.
  virtual std::string root_of(const model::AttemptRef& ref) const = 0;

  /// Has the attempt run, once. Repeating a call with the same ref starts nothing new until the
  /// attempt is forgotten, also when the first call failed after it had its effect, and also from
  /// another process. References that differ in anything, the fence included, are different
  /// attempts.
  virtual Status start(const AttemptSpec& spec) = 0;

  /// Everything of ours that is there, each attempt once, in one query: those that run, those that
  /// have ended and are not forgotten, and those that nobody asks for any more. What a start or a
  /// stop that has returned did is seen; phases may be behind, and never go back. Unknown is not
  /// gone: an observation that fails is an error. So an attempt that was started and is not in an
  /// observation begun later is lost.
  virtual Result<std::vector<ObservedAttempt>> observe() = 0;

  /// The log from this byte on. No bytes: nothing is there yet, or nothing follows. NotFound of an
  /// attempt that is not there.
  virtual Result<LogPart> read_log(const model::AttemptRef& ref, std::uint64_t from) = 0;

  /// Ends the attempt, which is then observed as ended (Stopped, unless it had ended by itself).
  /// Succeeds when it has ended already or was never known.
  virtual Status stop(const model::AttemptRef& ref) = 0;

  /// The end of an attempt and its log are kept elsewhere: the engine may remove all of it.
  /// Succeeds when it is not known. One that has not ended is Conflict: nothing is removed unseen.
  virtual Status forget(const model::AttemptRef& ref) = 0;
};

}  // namespace berth::target
