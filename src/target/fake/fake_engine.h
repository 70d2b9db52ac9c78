// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "target/engine.h"

namespace berth::target::fake {

/// Attempts that exist only here, and outlive the engine object as real ones do. Tests play the
/// part of the world: what runs says something and ends when they say so.
struct FakeAttempts {
  struct Attempt {
    AttemptSpec spec{};
    AttemptPhase phase = AttemptPhase::Pending;
    std::optional<model::Outcome> outcome{};
    std::string log{};
    std::optional<ObservedAttempt> held_back{};  ///< What observations say meanwhile.
  };

  /// What goes wrong with a call.
  struct Trouble {
    Error error{Code::Unavailable, "the engine does not answer"};
    bool acts = false;  ///< The call has its effect all the same.
  };

  // What happens to an attempt that is there.
  void advance(const model::AttemptRef& ref, AttemptPhase phase);
  void say(const model::AttemptRef& ref, const std::string& text);
  void end(const model::AttemptRef& ref, model::Outcome outcome);
  /// Observations go on saying what is true now, until let_go(): which may be never.
  void hold_back(const model::AttemptRef& ref);
  void let_go(const model::AttemptRef& ref);
  /// Nothing is left of it, and nobody knows why.
  void lose(const model::AttemptRef& ref);

  /// Requests that were answered and are on their way still: from here on a start is put aside, and
  /// has its effect when arrive() is called, once more for every call of it.
  void delay_starts() { delays_starts = true; }
  void arrive();

  int starts_of(const model::AttemptRef& ref) const;

  std::map<model::AttemptRef, Attempt> attempts{};
  std::map<model::AttemptRef, int> starts{};  ///< How often a command really began.
  std::deque<Trouble> troubles{};             ///< Of the next calls, one each.
  std::function<void(FakeAttempts&, const AttemptSpec&)> on_start{};  ///< An attempt has begun.
  bool delays_starts = false;
  std::vector<AttemptSpec> under_way{};
};

/// For tests. Passes tests/contract, which is what entitles other tests to trust it.
class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(std::shared_ptr<FakeAttempts> attempts = std::make_shared<FakeAttempts>())
      : attempts_(std::move(attempts)) {}

  FakeAttempts& attempts() { return *attempts_; }

  std::string root_of(const model::AttemptRef& ref) const override;
  Status start(const AttemptSpec& spec) override;
  Result<std::vector<ObservedAttempt>> observe() override;
  Result<LogPart> read_log(const model::AttemptRef& ref, std::uint64_t from) override;
  Status stop(const model::AttemptRef& ref) override;
  Status forget(const model::AttemptRef& ref) override;

 private:
  /// Runs the call, unless the next trouble keeps it from having its effect.
  Status call(const std::function<Status()>& act);

  std::shared_ptr<FakeAttempts> attempts_;
};

}  // namespace berth::target::fake
