// SPDX-License-Identifier: Apache-2.0
// What nodes and their providers report.
#include <fmt/format.h>

#include <algorithm>

#include "core/ending.h"
#include "server/assets/job_outputs.h"
#include "server/assets/log_blob.h"
#include "server/plane/turn.h"

namespace berth::server {

using model::Job;
using model::JobKey;
using model::JobStatus;
using model::Member;
using model::NodeId;

namespace {

/// A node of an earlier version says only the number.
bool is_current(const Job& job, const ControlPlane::Held& attempt) {
  return job.key == attempt.job && job.attempt == attempt.attempt &&
         (attempt.fence.empty() || job.fence == attempt.fence);
}

}  // namespace

bool ControlPlane::holds(const NodeId& node, const Held& attempt) const {
  const auto found = state_.jobs.find(attempt.job);
  if (found == state_.jobs.end() || !is_current(found->second, attempt)) return false;
  const Member* member = model::find_member(found->second, node);
  return member != nullptr && !member->outcome;
}

Status ControlPlane::node_joined(const NodeId& node, const Joining& joining,
                                 const std::vector<Held>& held) {
  if (!state_.nodes.contains(node)) {
    return fail(Code::NotFound, fmt::format("node '{}' is not expected here", node.text));
  }
  apply(core::NodeJoined{.node = node,
                         .slots = joining.slots,
                         .work_root = joining.work_root,
                         .address = joining.address,
                         .ends_at = joining.ends_at,
                         .at = clock_.now().wall});
  if (joining.is_leaving) {
    apply(core::NodeToldToLeave{node});
    apply(core::NodeDismissed{node});
  }
  std::vector<JobKey> expected;
  for (const Job* job : core::jobs_on(state_, node)) expected.push_back(job->key);
  for (const JobKey& key : expected) launch_or_settle(state_.jobs.at(key), node, held);
  for (const Held& attempt : held) {
    if (holds(node, attempt)) continue;
    turn().effects.push_back([this, attempt, node] {
      if (!holds(node, attempt)) {
        effects_.stop(attempt, node);
      }
    });
  }
  // It was dismissed while it could not hear.
  if (state_.nodes.at(node).is_dismissed) {
    turn().effects.push_back([this, node] { effects_.dismiss_node(node); });
  }
  decide();
  flush();
  return Done{};
}

/// A job that should be on a node that has just said what it has.
void ControlPlane::launch_or_settle(const Job& job, const NodeId& node,
                                    const std::vector<Held>& held) {
  const Member* member = model::find_member(job, node);
  if (member == nullptr || member->outcome) return;
  const bool is_there =
      std::ranges::any_of(held, [&](const Held& attempt) { return is_current(job, attempt); });
  const bool was_begun = member->status != JobStatus::Starting;
  const JobKey key = job.key;
  if (!is_there && was_begun) {
    apply(core::JobEnded{
        .job = key,
        .attempt = job.attempt,
        .node = node,
        .outcome = {.ending = model::Ending::Lost, .message = "its node came back without it"},
        .at = clock_.now().wall});
    after_loss(key);
    return;
  }
  launch_member(key, node);
  stop_rest(key);
}

/// A member was lost: its peers can stop, and when it was the last the job may be in line again.
void ControlPlane::after_loss(const JobKey& key) {
  stop_rest(key);
  const auto job = state_.jobs.find(key);
  if (job == state_.jobs.end() || job->second.status != JobStatus::Queued) return;
  turn().effects.push_back(
      [this, key, attempt = job->second.attempt] { effects_.attempt_taken(key, attempt); });
}

void ControlPlane::node_works_ahead(const NodeId& node, int attempts) {
  apply(core::NodeWorksAhead{node, attempts});
  decide();
  flush();
}

void ControlPlane::node_detached(const NodeId& node) {
  apply(core::NodeDetached{node});
  flush();
}

void ControlPlane::node_withdrew(const NodeId& node) {
  apply(core::NodeToldToLeave{node});
  apply(core::NodeDismissed{node});  // It cannot be called back.
  decide();
  flush();
}

void ControlPlane::node_started(const NodeId& node, const std::string& note) {
  apply(core::NodeStarted{node, note});
  flush();
}

void ControlPlane::node_start_failed(const NodeId& node, const std::string& error) {
  apply(core::NodeStartFailed{node, error, clock_.now().wall});
  flush();
}

void ControlPlane::node_gone(const NodeId& node) {
  std::vector<JobKey> held;
  for (const Job* job : core::jobs_on(state_, node)) held.push_back(job->key);
  apply(core::NodeGone{node, clock_.now().wall});
  for (const JobKey& key : held) after_loss(key);
  decide();
  flush();
}

void ControlPlane::extend_lease(const core::NodeLeaseExtended& lease) {
  apply(lease);
  flush();
}

void ControlPlane::job_advanced(const NodeId& node, const Held& attempt, JobStatus status) {
  if (!holds(node, attempt)) return;
  apply(core::JobAdvanced{.job = attempt.job,
                          .attempt = attempt.attempt,
                          .node = node,
                          .status = status,
                          .at = clock_.now().wall});
  flush();
}

void ControlPlane::member_prepared(const NodeId& node, const Held& attempt,
                                   const std::string& address, int port) {
  if (!holds(node, attempt)) return;
  apply(core::MemberPrepared{.job = attempt.job,
                             .attempt = attempt.attempt,
                             .node = node,
                             .address = address,
                             .port = port});
  const Job& job = state_.jobs.at(attempt.job);
  // A peer that was told to go may have ended by now: this one is told again, or for the first
  // time.
  const bool all_prepared =
      std::ranges::all_of(job.members, [](const Member& member) { return member.port != 0; });
  if (all_prepared && core::members_to_stop(job).empty()) {
    for (const Member& member : job.members) {
      turn().effects.push_back([this, attempt, to = member.node] {
        if (holds(to, attempt)) {
          effects_.go(state_.jobs.at(attempt.job), to);
        }
      });
    }
  }
  flush();
}

void ControlPlane::job_returned(const NodeId& node, const Held& attempt) {
  if (!holds(node, attempt)) return;
  if (state_.jobs.at(attempt.job).cancel_requested) {
    return job_ended(node, attempt, {.ending = model::Ending::Stopped}, {});
  }
  apply(core::JobReturned{
      .job = attempt.job, .attempt = attempt.attempt, .node = node, .at = clock_.now().wall});
  decide();
  flush();
}

void ControlPlane::job_began(const NodeId& node, const Held& attempt, WallTime at) {
  if (!holds(node, attempt)) return;
  apply(core::JobAdvanced{.job = attempt.job,
                          .attempt = attempt.attempt,
                          .node = node,
                          .status = JobStatus::Running,
                          .at = at});
}

/// An attempt that runs again must not have its log taken for the job's.
static void keep_apart(store::Batch& rows, const Job& job, int attempt) {
  for (store::Write& row : rows) {
    if (auto* put = std::get_if<store::PutBlob>(&row)) {
      put->blob.key = attempt_log_blob(job.key, attempt);
    }
  }
}

void ControlPlane::job_ended(const NodeId& node, const Held& attempt, model::Outcome outcome,
                             store::Batch more) {
  const auto forget = [this, attempt, node] { effects_.forget(attempt, node); };
  if (!holds(node, attempt)) {
    // It was settled before; the commit that says so may still be on its way, and comes first.
    turn().effects.push_back(forget);
    flush();
    return;
  }
  apply(core::JobEnded{.job = attempt.job,
                       .attempt = attempt.attempt,
                       .node = node,
                       .outcome = std::move(outcome),
                       .at = clock_.now().wall});
  const Job& job = state_.jobs.at(attempt.job);
  if (job.status == JobStatus::Completed) {
    RegisteredOutputs registered = register_outputs(store_, job, clock_.now().wall);
    for (store::Write& row : registered.rows) more.push_back(std::move(row));
    apply(core::JobWarned{attempt.job, std::move(registered.warnings)});
  }
  if (job.status == JobStatus::Queued) keep_apart(more, job, attempt.attempt);
  for (store::Write& row : more) turn().batch.push_back(std::move(row));
  turn().effects.push_back(forget);
  stop_rest(attempt.job);
  decide();
  flush();
}

}  // namespace berth::server
