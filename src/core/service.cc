// SPDX-License-Identifier: Apache-2.0
#include "core/service.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/back_off.h"
#include "core/ending.h"

namespace berth::core {
namespace {

using model::Ending;
using model::RestartWhen;

/// An attempt that ran for so long was a good one: what ends it is a new trouble, not the old one.
constexpr auto kGoodWhile = std::chrono::minutes(10);

/// What was stopped because somebody asked, or because its time was over, stays so.
bool ended_by_itself(const model::Job& job, const model::Outcome& outcome) {
  return !job.cancel_requested && outcome.ending != Ending::Stopped &&
         outcome.ending != Ending::TimedOut;
}

bool wants_restart(const model::RestartPolicy& policy, const model::Outcome& outcome) {
  if (policy.when == RestartWhen::Never) return false;
  return policy.when == RestartWhen::Always || !model::went_well(outcome);
}

tl::unexpected<Error> wrong_service(std::string target, std::string message) {
  return fail(Code::InvalidArgument, std::move(message), std::move(target));
}

Status check_probe(const model::Probe& probe) {
  if (!probe.path.empty() && !probe.path.starts_with('/')) {
    return wrong_service("probe.path", "the path of a probe begins with '/'");
  }
  const bool has_control = std::ranges::any_of(
      probe.path, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; });
  if (has_control) return wrong_service("probe.path", "the path of a probe has no spaces");
  if (probe.period < std::chrono::milliseconds(100) || probe.period > std::chrono::hours(1)) {
    return wrong_service("probe.period", "a probe is made every 0.1 to 3600 seconds");
  }
  if (probe.timeout < std::chrono::milliseconds(100) || probe.timeout > std::chrono::minutes(1)) {
    return wrong_service("probe.timeout", "a probe may take 0.1 to 60 seconds");
  }
  if (probe.initial_delay < Duration(0) || probe.initial_delay > std::chrono::hours(1)) {
    return wrong_service("probe.initial_delay", "the first probe comes within an hour");
  }
  if (probe.failure_threshold >= 1) return Done{};
  return wrong_service("probe.failure_threshold", "at least one probe has to fail");
}

Status check_restart(const model::RestartPolicy& policy) {
  if (policy.limit < 0) return wrong_service("restart.limit", "a limit is not negative");
  const bool is_good = policy.back_off >= std::chrono::milliseconds(100) &&
                       policy.back_off <= policy.longest_back_off &&
                       policy.longest_back_off <= std::chrono::hours(24);
  if (is_good) return Done{};
  return wrong_service("restart.back_off",
                       "a service waits 0.1 seconds to a day before it is run again");
}

}  // namespace

std::optional<Restart> restart_of(const model::Job& job, const model::Outcome& outcome,
                                  WallTime now) {
  const model::ServiceSpec* service = model::service_of(job.spec);
  if (service == nullptr || !ended_by_itself(job, outcome)) return std::nullopt;
  if (!wants_restart(service->restart, outcome)) return std::nullopt;
  const bool ran_well = job.started_at && now - *job.started_at >= kGoodWhile;
  const int before = ran_well ? 0 : job.restarts;
  if (service->restart.limit > 0 && before >= service->restart.limit) return std::nullopt;
  const auto error = judge(job, outcome).error;
  const BackOff back_off{.first = service->restart.back_off,
                         .longest = service->restart.longest_back_off};
  return Restart{.number = before + 1,
                 .not_before = now + back_off.pause_after(before + 1),
                 .reason = error ? error->message : "the command exited with code 0"};
}

bool is_due(const model::Job& job, WallTime now) {
  const model::ServiceSpec* service = model::service_of(job.spec);
  if (service == nullptr || !job.not_before) return true;
  return *job.not_before <= now || *job.not_before - now > service->restart.longest_back_off;
}

Status validate_service(const model::JobSpec& spec) {
  const model::ServiceSpec* service = model::service_of(spec);
  if (service == nullptr) return Done{};
  const model::CommandWork& work = command_of(spec);
  if (work.resources.instance_count > 1 || !work.distribution.is_null()) {
    return wrong_service("resources.instance_count", "a service runs on one node, as one process");
  }
  if (service->port < 0 || service->port > 65535) {
    return wrong_service("port", fmt::format("{} is not a port", service->port));
  }
  TRY(check_probe(service->probe));
  return check_restart(service->restart);
}

}  // namespace berth::core
