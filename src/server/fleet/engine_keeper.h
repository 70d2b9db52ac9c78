// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "io/offload.h"
#include "server/keys/signer.h"
#include "server/plane/control_plane.h"
#include "target/engine.h"

namespace berth::server {

struct EngineKeeperParts {
  ControlPlane& plane;
  store::Store& store;
  const Signer& signer;
  const Clock& clock;
  std::string url{};  ///< Where attempts reach us.
  /// The engine of a compute that takes attempts.
  std::function<Result<std::unique_ptr<target::Engine>>(const model::Compute&)> make;
  std::function<std::unique_ptr<io::Offload>()> make_thread;
};

/// Sees to it that the engine of every compute has the attempts that the State says it has, and no
/// others. It goes in rounds, one at a time for each engine: observe, record what was seen, and
/// when that is on disk start what is wanted and not there, stop what is there and not wanted,
/// forget what has ended. Level-triggered: whatever a call did or did not do, the next observation
/// tells. An engine that hangs delays only itself. Loop thread only.
class EngineKeeper {
 public:
  explicit EngineKeeper(EngineKeeperParts parts) : parts_(std::move(parts)) {}

  /// Called a few times a second: begins the rounds that are due.
  void reconcile();

 private:
  using Seen = std::map<model::AttemptRef, target::ObservedAttempt>;

  /// How often the engine did not take an attempt.
  struct Refusal {
    int times = 0;
    TimePoint next_try{};
  };
  struct Kept {
    std::shared_ptr<target::Engine> engine;
    std::unique_ptr<io::Offload> thread;
    bool is_busy = false;  ///< A round is under way.
    bool has_work = true;  ///< Something was there, or was asked for.
    int failures = 0;      ///< Of observations, in a row.
    std::optional<TimePoint> looked_at{};
    std::map<model::AttemptRef, Refusal> refusals{};
  };
  /// What follows from one observation.
  struct Calls {
    std::vector<model::AttemptRef> start{};
    std::vector<model::AttemptRef> stop{};
    std::vector<model::AttemptRef> forget{};
  };
  struct Results {
    std::vector<std::pair<model::AttemptRef, Status>> starts{};
    std::vector<Error> failures{};  ///< Of the others.
  };

  void begin_round(const model::ComputeKey& compute);
  bool is_due(const model::ComputeKey& compute, const Kept& kept) const;
  void observed(const model::ComputeKey& compute,
                const Result<std::vector<target::ObservedAttempt>>& seen);
  void record(const model::ComputeKey& compute, const Seen& seen);
  Calls calls_after(const model::ComputeKey& compute, const Seen& seen);
  void drop_outdated(const model::ComputeKey& compute, Calls& calls) const;
  void make_calls(const model::ComputeKey& compute, const Calls& calls);
  Result<target::AttemptSpec> spec_of(const model::ComputeKey& compute,
                                      const model::AttemptRef& attempt) const;
  void called(const model::ComputeKey& compute, const Results& results);
  std::vector<model::AttemptRef> runs_of(const model::ComputeKey& compute) const;
  bool is_wanted(const model::ComputeKey& compute, const model::AttemptRef& attempt) const;
  bool is_to_start(const model::ComputeKey& compute, const model::AttemptRef& attempt) const;

  EngineKeeperParts parts_;
  std::map<model::ComputeKey, Kept> kept_;
};

}  // namespace berth::server
