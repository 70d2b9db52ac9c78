// SPDX-License-Identifier: Apache-2.0
#include "core/ending.h"

#include <fmt/format.h>

#include <cstring>

namespace berth::core {
namespace {

using model::Ending;
using model::JobStatus;

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

Verdict judge_lost(const model::Job& job, const model::Outcome& outcome) {
  // Nobody will ever know how it went, but it is gone, and that is what the user asked for.
  if (job.cancel_requested) return {.status = JobStatus::Canceled};
  const std::string why = or_else(outcome.message, "the node is gone");
  return {.error = {{"Lost", fmt::format("node '{}' lost the attempt: {}", job.node.text, why)}}};
}

Verdict judge_timeout(const model::Job& job) {
  const auto limit = job.spec.timeout.value_or(std::chrono::seconds(0));
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

}  // namespace

Verdict judge(const model::Job& job, const model::Outcome& outcome) {
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
    case Ending::Lost: return judge_lost(job, outcome);
  }
  return judge_lost(job, outcome);
}

}  // namespace berth::core
