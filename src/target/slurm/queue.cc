// SPDX-License-Identifier: Apache-2.0
#include "target/slurm/queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"

namespace berth::target::slurm {
namespace {

constexpr std::array kPending =
    std::to_array<std::string_view>({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED",
                                     "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"});
constexpr std::array kGone = std::to_array<std::string_view>(
    {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY",
     "PREEMPTED", "REVOKED", "TIMEOUT"});

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_state_letter(char c) { return (c >= 'A' && c <= 'Z') || c == '_'; }

/// "17", "17_4", "17_[1-9%2]", "17+1".
bool is_job_id(std::string_view text) {
  return !text.empty() && is_digit(text[0]) && std::ranges::all_of(text, [](char c) {
    return is_digit(c) || std::string_view("_[]-,%+.").find(c) != std::string_view::npos;
  });
}

Result<QueuedJob> parse_line(std::string_view line) {
  const std::size_t first = line.find('|');
  const std::size_t second = line.find('|', first + 1);
  const std::size_t third = line.find('|', second + 1);
  if (first < second && second < third && third != std::string_view::npos) {
    const std::string_view id = line.substr(0, first);
    const std::string_view state = line.substr(first + 1, second - first - 1);
    if (is_job_id(id) && !state.empty() && std::ranges::all_of(state, is_state_letter)) {
      return QueuedJob{.id = std::string(id),
                       .state = std::string(state),
                       .name = std::string(line.substr(second + 1, third - second - 1)),
                       .reason = to_valid_utf8(line.substr(third + 1))};
    }
  }
  return fail(Code::Unavailable, fmt::format("'squeue' printed what is not a job: '{}'",
                                             to_valid_utf8(line.substr(0, 100))));
}

std::string note_of(const QueuedJob& job, Liveness liveness) {
  const bool has_reason = !job.reason.empty() && job.reason != "None";
  if (liveness == Liveness::Gone) {
    return has_reason ? fmt::format("{} ({})", job.state, job.reason) : job.state;
  }
  return liveness == Liveness::Pending && has_reason ? job.reason : "";
}

int presence(Liveness liveness) {
  return liveness == Liveness::Running ? 2 : liveness == Liveness::Pending ? 1 : 0;
}

}  // namespace

Result<std::vector<QueuedJob>> parse_queue(std::string_view text) {
  std::vector<QueuedJob> jobs;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) jobs.push_back(TRY(parse_line(line)));
  }
  return jobs;
}

Liveness liveness_of(std::string_view state) {
  if (std::ranges::find(kGone, state) != kGone.end()) return Liveness::Gone;
  if (std::ranges::find(kPending, state) != kPending.end()) return Liveness::Pending;
  return Liveness::Running;
}

std::vector<ObservedNode> nodes_among(const std::vector<QueuedJob>& jobs, std::string_view prefix) {
  std::map<model::NodeId, ObservedNode> nodes;
  for (const QueuedJob& job : jobs) {
    if (!job.name.starts_with(prefix)) continue;
    const model::NodeId id{job.name.substr(prefix.size())};
    if (!is_resource_name(id.text)) continue;
    const Liveness liveness = liveness_of(job.state);
    const auto [known, is_new] =
        nodes.try_emplace(id, ObservedNode{id, liveness, note_of(job, liveness)});
    if (!is_new && presence(liveness) > presence(known->second.liveness)) {
      known->second = {id, liveness, note_of(job, liveness)};
    }
  }
  std::vector<ObservedNode> seen;
  for (auto& [id, node] : nodes) seen.push_back(std::move(node));
  return seen;
}

}  // namespace berth::target::slurm
