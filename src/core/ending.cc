// SPDX-License-Identifier: Apache-2.0
#include "core/ending.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/distribution.h"

namespace berth::core {
namespace {

using model::Ending;
using model::JobStatus;
using model::went_well;

std::string or_else(const std::string& message, const char* otherwise) {
  return message.empty() ? otherwise : message;
}

std::string signal_text(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("{}", signal) : fmt::format("{} (SIG{})", signal, name);
}

Verdict judge_exit(const model::Outcome& outcome) {
  if (outcome.exit_code == 0) return {.status = JobStatus::Completed};
  return {
      .error = {{"ExitCode", fmt::format("the command exited with code {}", outcome.exit_code)}}};
}

/// "node 'pool-1'".
std::string who_lost(const model::Job& job) {
  if (const model::EngineRun* run = engine_run_of(job)) {
    return fmt::format("compute '{}'", run->engine);
  }
  for (const model::Member& member : members_of(job)) {
    if (member.outcome && member.outcome->ending == Ending::Lost) {
      return fmt::format("node '{}'", member.node.text);
    }
  }
  return fmt::format("node '{}'", model::head_node(job).text);
}

Verdict judge_lost(const model::Job& job, const model::Outcome& outcome) {
  // Nobody will ever know how it went, but it is gone, and that is what the user asked for.
  if (job.cancel_requested) return {.status = JobStatus::Canceled};
  const char* const otherwise =
      engine_run_of(job) == nullptr ? "the node is gone" : "it is not there any more";
  const std::string why = or_else(outcome.message, otherwise);
  return {.error = {{"Lost", fmt::format("{} lost the attempt: {}", who_lost(job), why)}}};
}

Verdict judge_timeout(const model::Job& job) {
  const auto limit = job.spec->timeout.value_or(std::chrono::seconds(0));
  return {.status = JobStatus::Canceled,
          .error = {{"Timeout", fmt::format("the job ran longer than its limit of {} s and was "
                                            "stopped",
                                            limit.count())}}};
}

Verdict judge_stop(const model::Job& job, const model::Outcome& outcome) {
  if (job.cancel_requested) return {.status = JobStatus::Canceled};
  return {.status = JobStatus::Canceled,
          .error = {{"Stopped", or_else(outcome.message, "the node stopped the job")}}};
}

Verdict judge_memory(const model::Outcome& outcome) {
  std::string message = "the command was killed because it ran out of memory";
  if (!outcome.message.empty()) message += fmt::format(" ({})", outcome.message);
  return {.error = {{"OutOfMemory", std::move(message)}}};
}

std::string how_it_ended(const model::Outcome& outcome) {
  std::string text;
  if (outcome.ending == Ending::Signaled) {
    text = fmt::format("the command was ended by signal {}", signal_text(outcome.signal));
  } else if (outcome.exit_code != 0 || outcome.message.empty()) {
    text = fmt::format("the command exited with code {}", outcome.exit_code);
  }
  const char* const between = text.empty() || outcome.message.empty() ? "" : "; ";
  return text + between + outcome.message;
}

/// What the command itself ended by, or what it made and nobody had room for.
bool may_be_for_lack_of_room(const model::Outcome& outcome) {
  return !outcome.disk_full.empty() &&
         (outcome.ending == Ending::Exited || outcome.ending == Ending::Signaled ||
          outcome.ending == Ending::Undelivered);
}

Verdict judge_full_disk(const model::Outcome& outcome) {
  return {.error = {{"DiskFull",
                     fmt::format("{} was full; {}", outcome.disk_full, how_it_ended(outcome))}}};
}

/// What a member did by itself, or had done to it by the machine.
bool is_own_failure(const model::Outcome& outcome) {
  return !went_well(outcome) && outcome.ending != Ending::Stopped && outcome.ending != Ending::Lost;
}

bool any_ended(const model::Job& job, Ending ending) {
  return std::ranges::any_of(members_of(job), [&](const model::Member& member) {
    return member.outcome && member.outcome->ending == ending;
  });
}

bool is_mpi(const model::Job& job) {
  const auto distribution = read_distribution(job.spec);
  return distribution && distribution->framework == Framework::Mpi;
}

/// Of the members that failed by themselves, the one that did so first; nullptr when none did.
const model::Member* first_failure(const model::Job& job) {
  const model::Member* first = nullptr;
  for (const model::Member& member : members_of(job)) {
    if (!member.outcome || !is_own_failure(*member.outcome)) continue;
    if (first == nullptr || member.ended_at < first->ended_at) first = &member;
  }
  return first;
}

}  // namespace

model::Outcome combine(const model::Job& job) {
  const model::Member& head = members_of(job).front();
  if (is_mpi(job) && head.outcome->ending != Ending::Stopped) return *head.outcome;
  if (const model::Member* failed = first_failure(job)) return *failed->outcome;
  for (const Ending ending : {Ending::Stopped, Ending::Lost}) {
    for (const model::Member& member : members_of(job)) {
      if (member.outcome->ending == ending) return *member.outcome;
    }
  }
  return *head.outcome;
}

bool was_taken(const model::Job& job) {
  if (job.cancel_requested) return false;
  const bool head_is_done =
      is_mpi(job) && members_of(job).front().outcome && went_well(*members_of(job).front().outcome);
  if (head_is_done) return false;
  return any_ended(job, Ending::Lost) || (job.is_yielding && any_ended(job, Ending::Stopped));
}

std::vector<model::NodeId> members_to_stop(const model::Job& job) {
  const bool any_bad = std::ranges::any_of(members_of(job), [](const model::Member& member) {
    return member.outcome && !went_well(*member.outcome);
  });
  const bool head_is_done =
      is_mpi(job) && !members_of(job).empty() && members_of(job).front().outcome;
  std::vector<model::NodeId> nodes;
  if (!any_bad && !head_is_done && !job.cancel_requested && !job.is_yielding) return nodes;
  for (const model::Member& member : members_of(job)) {
    if (!member.outcome) nodes.push_back(member.node);
  }
  return nodes;
}

Verdict judge(const model::Job& job, const model::Outcome& outcome) {
  if (may_be_for_lack_of_room(outcome)) return judge_full_disk(outcome);
  switch (outcome.ending) {
    case Ending::Exited: return judge_exit(outcome);
    case Ending::Signaled:
      return {.error = {{"Signal", fmt::format("the command was ended by signal {}",
                                               signal_text(outcome.signal))}}};
    case Ending::OutOfMemory: return judge_memory(outcome);
    case Ending::TimedOut: return judge_timeout(job);
    case Ending::Stopped: return judge_stop(job, outcome);
    case Ending::NotStarted:
      return {.error = {{"NotStarted", or_else(outcome.message, "the job could not be started")}}};
    case Ending::Undelivered:
      return {.error = {{"OutputsNotKept",
                         or_else(outcome.message, "the job's outputs could not be kept")}}};
    case Ending::Lost: return judge_lost(job, outcome);
  }
  return judge_lost(job, outcome);
}

}  // namespace berth::core
