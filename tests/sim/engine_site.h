// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/machine.h"
#include "sim/stage.h"
#include "target/fake/fake_engine.h"

namespace berth::sim {

/// The name of the one compute that has an engine.
inline constexpr const char* kEngine = "k8s";

/// The engine and the attempts in it. They are there whether or not a server is.
class EngineSite {
 public:
  EngineSite(Stage& stage, const Behaviours& behaviours);

  /// For one server process, alive as long as `caller`: its calls fail, come late and come twice.
  std::unique_ptr<target::Engine> engine(std::weak_ptr<int> caller);

  /// An attempt vanishes, or is stopped by its engine.
  void harm_something();
  /// From now on observations say what is so.
  void find_peace();
  /// Attempts that are not forgotten: "k8s/a".
  std::vector<std::string> leftovers() const;

  // What calls do.

  enum class Arrival { InTime, Late };
  Status start(const target::AttemptSpec& spec, int timeline, Arrival arrival);
  Result<std::vector<target::ObservedAttempt>> observe() { return fake_.observe(); }
  Status stop(const model::AttemptRef& ref);
  Status forget(const model::AttemptRef& ref);
  std::string root_of(const model::AttemptRef& ref) const { return fake_.root_of(ref); }
  /// The disk says that the attempt goes on; nullptr: that it does not.
  const model::Job* wanted(const model::AttemptRef& ref) const;

 private:
  struct Life {
    Judge::Run run{};
    Behaviour behaviour{};
    Arrival arrival = Arrival::InTime;
    int number = 0;  ///< An attempt that was lost and comes again has another one.
    bool runs = false;
  };

  void begin(const target::AttemptSpec& spec);
  void run(const model::AttemptRef& ref, Life& life);
  void finish(const model::AttemptRef& ref, Life& life);
  void stop_running(const model::AttemptRef& ref, model::Ending ending);
  void fall_behind(const model::AttemptRef& ref);
  /// After so long, if it is still the same attempt and goes on.
  template <typename Work>
  void later(Duration delay, const model::AttemptRef& ref, Work work);

  Stage& stage_;
  const Behaviours& behaviours_;
  std::shared_ptr<target::fake::FakeAttempts> attempts_;
  target::fake::FakeEngine fake_;
  std::map<model::AttemptRef, Life> lives_{};
  std::map<model::AttemptRef, int> losses_{};
  int timeline_ = 0;  ///< Of the call that is being made …
  Arrival arrival_ = Arrival::InTime;
  int last_number_ = 0;
};

}  // namespace berth::sim
