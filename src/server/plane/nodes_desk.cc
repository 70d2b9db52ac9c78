// SPDX-License-Identifier: Apache-2.0
#include "server/plane/nodes_desk.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ending.h"
#include "server/assets/job_outputs.h"
#include "server/assets/log_blob.h"
#include "server/plane/attempt.h"

namespace berth::server {

using model::Job;
using model::JobKey;
using model::JobStatus;
using model::Member;
using model::NodeId;

Status NodesDesk::joined(const NodeId& node, const Joining& joining,
                         const std::vector<Held>& held) {
  if (!state_.nodes.contains(node)) {
    return fail(Code::NotFound, fmt::format("node '{}' is not expected here", node.text));
  }
  parts_.ledger.apply(core::NodeJoined{.node = node,
                                       .slots = joining.slots,
                                       .work_root = joining.work_root,
                                       .address = joining.address,
                                       .ends_at = joining.ends_at,
                                       .at = parts_.clock.now().wall});
  if (joining.is_leaving) {
    parts_.ledger.apply(core::NodeToldToLeave{node});
    parts_.ledger.apply(core::NodeDismissed{node});
  }
  std::vector<JobKey> expected;
  for (const Job* job : core::jobs_on(state_, node)) expected.push_back(job->key);
  for (const JobKey& key : expected) launch_or_settle(state_.jobs.at(key), node, held);
  for (const Held& attempt : held) {
    if (holds(state_, node, attempt)) continue;
    parts_.ledger.then([this, attempt, node] {
      if (!holds(state_, node, attempt)) {
        effects_.stop(attempt, node);
      }
    });
  }
  // It was dismissed while it could not hear.
  if (state_.nodes.at(node).is_dismissed) {
    parts_.ledger.then([this, node] { effects_.dismiss_node(node); });
  }
  parts_.decider.decide();
  parts_.ledger.flush();
  return Done{};
}

/// A job that should be on a node that has just said what it has.
void NodesDesk::launch_or_settle(const Job& job, const NodeId& node,
                                 const std::vector<Held>& held) {
  const Member* member = model::find_member(job, node);
  if (member == nullptr || member->outcome) return;
  const bool is_there =
      std::ranges::any_of(held, [&](const Held& attempt) { return is_current(job, attempt); });
  const bool was_begun = member->status != JobStatus::Starting;
  const JobKey key = job.key;
  if (!is_there && was_begun) {
    parts_.ledger.apply(core::JobEnded{
        .job = key,
        .attempt = job.attempt,
        .node = node,
        .outcome = {.ending = model::Ending::Lost, .message = "its node came back without it"},
        .at = parts_.clock.now().wall});
    after_loss(key);
    return;
  }
  parts_.decider.launch_member(key, node);
  parts_.decider.stop_rest(key);
}

/// A member was lost: its peers can stop, and when it was the last the job may be in line again.
void NodesDesk::after_loss(const JobKey& key) {
  parts_.decider.stop_rest(key);
  const auto job = state_.jobs.find(key);
  if (job == state_.jobs.end() || job->second.status != JobStatus::Queued) return;
  parts_.ledger.then(
      [this, key, attempt = job->second.attempt] { effects_.attempt_taken(key, attempt); });
}

void NodesDesk::works_ahead(const NodeId& node, int attempts) {
  parts_.ledger.apply(core::NodeWorksAhead{node, attempts});
  parts_.decider.decide();
  parts_.ledger.flush();
}

void NodesDesk::detached(const NodeId& node) {
  parts_.ledger.apply(core::NodeDetached{node});
  parts_.ledger.flush();
}

void NodesDesk::withdrew(const NodeId& node) {
  parts_.ledger.apply(core::NodeToldToLeave{node});
  parts_.ledger.apply(core::NodeDismissed{node});  // It cannot be called back.
  parts_.decider.decide();
  parts_.ledger.flush();
}

void NodesDesk::started(const NodeId& node, const std::string& note) {
  parts_.ledger.apply(core::NodeStarted{node, note});
  parts_.ledger.flush();
}

void NodesDesk::start_failed(const NodeId& node, const std::string& error) {
  parts_.ledger.apply(core::NodeStartFailed{node, error, parts_.clock.now().wall});
  parts_.ledger.flush();
}

void NodesDesk::gone(const NodeId& node) {
  std::vector<JobKey> held;
  for (const Job* job : core::jobs_on(state_, node)) held.push_back(job->key);
  parts_.ledger.apply(core::NodeGone{node, parts_.clock.now().wall});
  for (const JobKey& key : held) after_loss(key);
  parts_.decider.decide();
  parts_.ledger.flush();
}

void NodesDesk::extend_lease(const core::NodeLeaseExtended& lease) {
  parts_.ledger.apply(lease);
  parts_.ledger.flush();
}

void NodesDesk::job_advanced(const NodeId& node, const Held& attempt, JobStatus status) {
  if (!holds(state_, node, attempt)) return;
  parts_.ledger.apply(core::JobAdvanced{.job = attempt.job,
                                        .attempt = attempt.attempt,
                                        .node = node,
                                        .status = status,
                                        .at = parts_.clock.now().wall});
  parts_.ledger.flush();
}

void NodesDesk::member_prepared(const NodeId& node, const Held& attempt, const std::string& address,
                                int port) {
  if (!holds(state_, node, attempt)) return;
  parts_.ledger.apply(core::MemberPrepared{.job = attempt.job,
                                           .attempt = attempt.attempt,
                                           .node = node,
                                           .address = address,
                                           .port = port});
  const Job& job = state_.jobs.at(attempt.job);
  // A peer that was told to go may have ended by now: this one is told again, or for the first
  // time.
  const bool all_prepared =
      std::ranges::all_of(members_of(job), [](const Member& member) { return member.port != 0; });
  if (all_prepared && core::members_to_stop(job).empty()) {
    for (const Member& member : members_of(job)) {
      parts_.ledger.then([this, attempt, to = member.node] {
        if (holds(state_, to, attempt)) {
          effects_.go(state_.jobs.at(attempt.job), to);
        }
      });
    }
  }
  parts_.ledger.flush();
}

void NodesDesk::endpoint_changed(const NodeId& node, const Held& attempt,
                                 const model::Endpoint& endpoint) {
  if (!holds(state_, node, attempt)) return;
  parts_.ledger.apply(core::EndpointChanged{
      .job = attempt.job, .attempt = attempt.attempt, .node = node, .endpoint = endpoint});
  parts_.ledger.flush();
}

void NodesDesk::job_returned(const NodeId& node, const Held& attempt) {
  if (!holds(state_, node, attempt)) return;
  if (state_.jobs.at(attempt.job).cancel_requested) {
    return job_ended(node, attempt, {.ending = model::Ending::Stopped}, {});
  }
  if (members_of(state_.jobs.at(attempt.job)).size() > 1) {
    // The others of a gang have begun. The node is told again until it has room: what it is still
    // stopping is of a time that a backup does not know.
    parts_.decider.launch_member(attempt.job, node);
    parts_.decider.stop_rest(attempt.job);
    return parts_.ledger.flush();
  }
  parts_.ledger.apply(core::JobReturned{
      .job = attempt.job, .attempt = attempt.attempt, .node = node, .at = parts_.clock.now().wall});
  parts_.decider.decide();
  parts_.ledger.flush();
}

void NodesDesk::job_began(const NodeId& node, const Held& attempt, WallTime at) {
  if (!holds(state_, node, attempt)) return;
  parts_.ledger.apply(core::JobAdvanced{.job = attempt.job,
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

void NodesDesk::job_ended(const NodeId& node, const Held& attempt, model::Outcome outcome,
                          store::Batch more) {
  const auto forget = [this, attempt, node] { effects_.forget(attempt, node); };
  if (!holds(state_, node, attempt)) {
    // It was settled before; the commit that says so may still be on its way, and comes first.
    parts_.ledger.then(forget);
    parts_.ledger.flush();
    return;
  }
  parts_.ledger.apply(core::JobEnded{.job = attempt.job,
                                     .attempt = attempt.attempt,
                                     .node = node,
                                     .outcome = std::move(outcome),
                                     .at = parts_.clock.now().wall});
  const Job& job = state_.jobs.at(attempt.job);
  if (job.status == JobStatus::Completed) {
    RegisteredOutputs registered = register_outputs(parts_.store, job, parts_.clock.now().wall);
    for (store::Write& row : registered.rows) more.push_back(std::move(row));
    if (!registered.warnings.empty()) {
      parts_.ledger.apply(core::JobWarned{attempt.job, std::move(registered.warnings)});
    }
  }
  if (job.status == JobStatus::Queued) keep_apart(more, job, attempt.attempt);
  parts_.ledger.add(std::move(more));
  parts_.ledger.then(forget);
  parts_.decider.stop_rest(attempt.job);
  parts_.decider.decide();
  parts_.ledger.flush();
}

}  // namespace berth::server
