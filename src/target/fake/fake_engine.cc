// SPDX-License-Identifier: Apache-2.0
#include "target/fake/fake_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace berth::target::fake {
namespace {

constexpr std::size_t kMostBytes = 8;  // Of the log at once: readers have to ask again.

void begin(FakeAttempts& world, const AttemptSpec& spec) {
  const auto [found, is_new] = world.attempts.try_emplace(spec.ref);
  if (!is_new) return;
  found->second.spec = spec;
  found->second.phase = AttemptPhase::Running;
  ++world.starts[spec.ref];
  if (world.on_start) world.on_start(world, spec);
}

ObservedAttempt seen(const model::AttemptRef& ref, const FakeAttempts::Attempt& attempt) {
  if (attempt.held_back) return *attempt.held_back;
  return {.ref = ref, .phase = attempt.phase, .outcome = attempt.outcome};
}

Status check(const model::AttemptRef& ref) {
  const bool is_name = is_resource_name(ref.job.name) && is_resource_name(ref.job.workspace.text);
  if (is_name && ref.attempt > 0) return Done{};
  return fail(Code::InvalidArgument,
              fmt::format("'{}/{}' cannot name an attempt", ref.job.name, ref.attempt));
}

}  // namespace

void FakeAttempts::advance(const model::AttemptRef& ref, AttemptPhase phase) {
  attempts.at(ref).phase = phase;
}

void FakeAttempts::say(const model::AttemptRef& ref, const std::string& text) {
  attempts.at(ref).log += text;
}

void FakeAttempts::end(const model::AttemptRef& ref, model::Outcome outcome) {
  Attempt& attempt = attempts.at(ref);
  if (attempt.phase == AttemptPhase::Ended) return;
  attempt.phase = AttemptPhase::Ended;
  attempt.outcome = std::move(outcome);
}

void FakeAttempts::hold_back(const model::AttemptRef& ref) {
  attempts.at(ref).held_back = seen(ref, attempts.at(ref));
}

void FakeAttempts::let_go(const model::AttemptRef& ref) { attempts.at(ref).held_back.reset(); }

void FakeAttempts::lose(const model::AttemptRef& ref) { attempts.erase(ref); }

void FakeAttempts::arrive() {
  for (const AttemptSpec& spec : under_way) begin(*this, spec);
}

int FakeAttempts::starts_of(const model::AttemptRef& ref) const {
  const auto found = starts.find(ref);
  return found == starts.end() ? 0 : found->second;
}

Status FakeEngine::call(const std::function<Status()>& act) {
  if (attempts_->troubles.empty()) return act();
  const FakeAttempts::Trouble trouble = std::move(attempts_->troubles.front());
  attempts_->troubles.pop_front();
  if (trouble.acts) TRY(act());
  return fail(trouble.error);
}

std::string FakeEngine::root_of(const model::AttemptRef& ref) const {
  return fmt::format("/attempts/{}/{}/{}-{}", ref.job.workspace.text, ref.job.name, ref.attempt,
                     ref.fence);
}

Status FakeEngine::start(const AttemptSpec& spec) {
  TRY(check(spec.ref));
  return call([&]() -> Status {
    if (attempts_->delays_starts) {
      attempts_->under_way.push_back(spec);
    } else {
      begin(*attempts_, spec);
    }
    return Done{};
  });
}

Result<std::vector<ObservedAttempt>> FakeEngine::observe() {
  TRY(call([] { return Status(Done{}); }));
  std::vector<ObservedAttempt> found;
  for (const auto& [ref, attempt] : attempts_->attempts) found.push_back(seen(ref, attempt));
  return found;
}

Result<LogPart> FakeEngine::read_log(const model::AttemptRef& ref, std::uint64_t from) {
  TRY(call([] { return Status(Done{}); }));
  const auto found = attempts_->attempts.find(ref);
  if (found == attempts_->attempts.end()) {
    return fail(Code::NotFound, fmt::format("no attempt of '{}'", ref.job.name));
  }
  const std::string& log = found->second.log;
  const std::size_t begin = std::min<std::size_t>(from, log.size());
  LogPart part{.bytes = log.substr(begin, kMostBytes)};
  part.is_last = seen(ref, found->second).phase == AttemptPhase::Ended &&
                 begin + part.bytes.size() == log.size();
  return part;
}

Status FakeEngine::stop(const model::AttemptRef& ref) {
  return call([&]() -> Status {
    const bool is_there = attempts_->attempts.contains(ref);
    if (is_there) attempts_->end(ref, {.ending = model::Ending::Stopped});
    return Done{};
  });
}

Status FakeEngine::forget(const model::AttemptRef& ref) {
  return call([&]() -> Status {
    const auto found = attempts_->attempts.find(ref);
    if (found == attempts_->attempts.end()) return Done{};
    if (seen(ref, found->second).phase != AttemptPhase::Ended) {
      return fail(Code::Conflict, fmt::format("'{}' has not ended", ref.job.name));
    }
    attempts_->attempts.erase(found);
    return Done{};
  });
}

}  // namespace berth::target::fake
