// SPDX-License-Identifier: Apache-2.0
#include "core/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace berth::core {
namespace {

using model::JobStatus;
using model::NodeStatus;

std::size_t taken_slots(const State& state, const model::NodeId& node) {
  const auto held = state.held.find(node);
  return held == state.held.end() ? 0 : held->second.size();
}

std::size_t slots_of(const model::Node& node) {
  return static_cast<std::size_t>(std::max(node.slots, 0));
}

std::size_t free_slots(const State& state, const model::Node& node) {
  const std::size_t taken = taken_slots(state, node.id);
  return slots_of(node) - std::min(taken, slots_of(node));
}

struct Capacity {
  std::size_t total = 0;  ///< Slots of nodes that are ready.
  std::size_t taken = 0;
  bool any_starting = false;
  bool any_detached = false;
};

Capacity capacity_of(const State& state, const std::string& target) {
  Capacity capacity;
  for (const auto& [id, node] : state.nodes) {
    if (node.target != target) continue;
    capacity.any_starting |= node.status == NodeStatus::Requested;
    capacity.any_detached |= node.status == NodeStatus::Detached;
    if (node.status != NodeStatus::Ready) continue;
    capacity.total += slots_of(node);
    capacity.taken += slots_of(node) - free_slots(state, node);
  }
  return capacity;
}

/// The most urgent job that waits for the target, or whatever sorts behind all of them.
std::set<QueueEntry>::const_iterator first_in_line(const State& state, const std::string& target) {
  return state.queue.lower_bound({.target = target, .urgency = std::numeric_limits<int>::min()});
}

std::string ahead_of(const State& state, const model::Job& job) {
  auto entry = first_in_line(state, target_of(job.spec));
  std::size_t ahead = 0;
  for (; entry != state.queue.end() && entry->job != job.key; ++entry) ++ahead;
  if (ahead == 0) return "it is the next";
  return ahead == 1 ? "1 job is ahead of it" : fmt::format("{} jobs are ahead of it", ahead);
}

std::string explain_wait(const State& state, const model::Job& job, int local_slots) {
  const std::string target = target_of(job.spec);
  const Capacity capacity = capacity_of(state, target);
  const std::string ahead = ahead_of(state, job);
  if (capacity.total > capacity.taken) return fmt::format("is about to start on '{}'", target);
  if (capacity.total > 0) {
    return fmt::format("waits for a free slot on '{}': {} of {} are taken; {}", target,
                       capacity.taken, capacity.total, ahead);
  }
  if (capacity.any_detached) {
    return fmt::format("waits for the node of '{}' to connect again; {}", target, ahead);
  }
  if (capacity.any_starting) {
    return fmt::format("waits for the node of '{}', which is starting; {}", target, ahead);
  }
  return fmt::format("waits for a node of '{}' with {} slots to be started; {}", target,
                     local_slots, ahead);
}

}  // namespace

Plan plan(const State& state, int local_slots, WallTime now) {
  Plan plan;
  auto next = first_in_line(state, kLocalTarget);
  const auto waits = [&] { return next != state.queue.end() && next->target == kLocalTarget; };
  if (!waits()) return plan;

  bool has_node = false;
  for (const auto& [id, node] : state.nodes) {
    if (node.target != kLocalTarget) continue;
    // A node that leaves counts until it is gone: the next one will bear the same id.
    has_node = true;
    if (node.status != NodeStatus::Ready) continue;
    for (std::size_t free = free_slots(state, node); free > 0 && waits(); --free, ++next) {
      plan.place.push_back({.job = next->job, .node = id, .at = now});
    }
  }
  if (!has_node) {
    plan.request.push_back(
        {.id = {kLocalTarget}, .target = kLocalTarget, .slots = local_slots, .requested_at = now});
  }
  return plan;
}

std::string explain(const State& state, const model::Job& job, int local_slots) {
  if (is_terminal(job.status)) return "is over";
  switch (job.status) {
    case JobStatus::Queued: return explain_wait(state, job, local_slots);
    case JobStatus::Starting:
    case JobStatus::Preparing: return fmt::format("is being prepared by node '{}'", job.node.text);
    case JobStatus::CancelRequested:
      return fmt::format("is being stopped on node '{}'", job.node.text);
    default: return "";
  }
}

}  // namespace berth::core
