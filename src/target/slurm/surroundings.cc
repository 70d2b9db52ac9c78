// SPDX-License-Identifier: Apache-2.0
#include "target/slurm/surroundings.h"

#include <charconv>
#include <string_view>

#include "base/text.h"
#include "io/process/command.h"
#include "target/slurm/pilot.h"

namespace berth::target::slurm {
namespace {

constexpr Duration kSqueuePatience = std::chrono::seconds(10);

std::string variable_in(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

std::optional<WallTime> from_epoch(std::string_view text) {
  std::int64_t seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, seconds);
  if (failed != std::errc() || stopped != end || seconds <= 0) return std::nullopt;
  return WallTime(std::chrono::seconds(seconds));
}

std::optional<WallTime> ask_squeue(const Environment& environment, const std::string& job) {
  Environment asked = environment;
  asked["SLURM_TIME_FORMAT"] = "%s";
  const auto answer =
      io::run_command({.command = {"squeue", "--noheader", "--format=%e", "--jobs=" + job},
                       .environment = std::move(asked),
                       .time_limit = kSqueuePatience});
  if (!answer || answer->exit_code != 0) return std::nullopt;
  return from_epoch(trim(answer->out));
}

}  // namespace

std::optional<Surroundings> surroundings(const Environment& environment) {
  const std::string job = variable_in(environment, "SLURM_JOB_ID");
  Surroundings found{.ends_at = from_epoch(variable_in(environment, "SLURM_JOB_END_TIME"))};
  if (job.empty()) return found.ends_at ? std::optional(found) : std::nullopt;
  if (!found.ends_at) found.ends_at = ask_squeue(environment, job);
  found.left_behind = pilot_log(variable_in(environment, "SLURM_JOB_USER"), job);
  return found;
}

}  // namespace berth::target::slurm
