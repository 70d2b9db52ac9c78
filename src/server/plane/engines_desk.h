// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/attempt.h"
#include "server/plane/desk.h"

namespace berth::server {

/// What engines (target/engine.h) are observed to do with the attempts they were given. What is
/// said of an older attempt changes nothing. See desk.h.
class EnginesDesk {
 public:
  explicit EnginesDesk(const DeskParts& parts) : parts_(parts), state_(parts.ledger.state()) {}

  /// It has the attempt: Starting while that waits there, then as far as `phase`.
  void advanced(const model::AttemptRef& attempt, model::JobStatus phase, const std::string& note);
  /// It was asked to take the attempt and has not said that it did.
  void refused(const model::AttemptRef& attempt, const std::string& error);
  void ended(const model::AttemptRef& attempt, const model::Outcome& outcome);
  /// It does not have the attempt any more, or is not to have it before it ever did.
  void lost(const model::AttemptRef& attempt);

 private:
  bool goes_on(const model::AttemptRef& attempt) const;

  DeskParts parts_;
  const core::State& state_;
};

}  // namespace berth::server
