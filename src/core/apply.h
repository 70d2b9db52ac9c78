// SPDX-License-Identifier: Apache-2.0
// What each event does, one function each. Only core/state*.cc include this.
#pragma once

#include <optional>
#include <string>

#include "core/state.h"

namespace berth::core {

Touched on(State& state, const WorkspaceMade& event);
Touched on(State& state, const WorkspaceDeleted& event);
Touched on(State& state, const SiteMade& event);
Touched on(State& state, const SiteRemoved& event);
Touched on(State& state, const ComputeMade& event);
Touched on(State& state, const ComputeDeleteRequested& event);
Touched on(State& state, const ComputeGone& event);
Touched on(State& state, const JobSubmitted& event);
Touched on(State& state, const JobRelabelled& event);
Touched on(State& state, const JobPlaced& event);
Touched on(State& state, const JobAdvanced& event);
Touched on(State& state, const MemberPrepared& event);
Touched on(State& state, const EndpointChanged& event);
Touched on(State& state, const JobReturned& event);
Touched on(State& state, const JobCancelRequested& event);
Touched on(State& state, const JobPreempted& event);
Touched on(State& state, const JobEnded& event);
Touched on(State& state, const EngineRunStarted& event);
Touched on(State& state, const EngineRunAdvanced& event);
Touched on(State& state, const EngineRunRefused& event);
Touched on(State& state, const EngineRunEnded& event);
Touched on(State& state, const EngineRunLost& event);
Touched on(State& state, const ParentEnded& event);
Touched on(State& state, const JobDeleted& event);
Touched on(State& state, const JobBroughtBack& event);
Touched on(State& state, const JobWarned& event);
Touched on(State& state, const NodeRequested& event);
Touched on(State& state, const NodeStarted& event);
Touched on(State& state, const NodeStartFailed& event);
Touched on(State& state, const NodeJoined& event);
Touched on(State& state, const NodeWorksAhead& event);
Touched on(State& state, const NodeDetached& event);
Touched on(State& state, const NodeLeaseExtended& event);
Touched on(State& state, const NodeToldToLeave& event);
Touched on(State& state, const NodeRecalled& event);
Touched on(State& state, const NodeDismissed& event);
Touched on(State& state, const NodePreempted& event);
Touched on(State& state, const NodeGone& event);

Touched on(State& state, const UserMade& event);
Touched on(State& state, const UserDeleted& event);
Touched on(State& state, const TokenMade& event);
Touched on(State& state, const TokenRevoked& event);
Touched on(State& state, const RoleAssigned& event);
Touched on(State& state, const RoleRemoved& event);

Touched on(State& state, const DeploymentBegun& event);
Touched on(State& state, const DeploymentPlanned& event);
Touched on(State& state, const DeploymentResumed& event);
Touched on(State& state, const ResourceSettled& event);
Touched on(State& state, const DeploymentEnded& event);
Touched on(State& state, const DeploymentDeleted& event);

template <typename T>
Touched touching(const EntityKey<T>& key) {
  Touched touched;
  touched.of<T>().insert(key);
  return touched;
}

/// Tokens for the workspace and roles in it go with it.
void forget_access(State& state, const model::WorkspaceId& workspace, Touched& touched);

model::Job* find(State& state, const model::JobKey& key);
model::Node* find(State& state, const model::NodeId& id);

/// Takes the deployment out of the State, with the lines of its resources.
void forget(State& state, const model::DeploymentKey& key);

/// How far an attempt has come; what is no part of that way has no place on it: 0.
int progress(model::JobStatus status);

/// The attempt is over. The job ends so, or is queued again when the attempt was taken from it
/// (`taken` says by what) and its compute repeats what is lost.
void end_attempt(State& state, model::Job& job, const model::Outcome& outcome,
                 const std::optional<std::string>& taken, WallTime at, Touched& touched);

/// Each once: attempts and members often have the same to say.
void move_notes(model::Outcome& outcome, model::Job& job);

/// The member's share is over; with the last member the attempt is, and the job ends or is queued
/// again.
void end_member(State& state, model::Job& job, const model::NodeId& node,
                const model::Outcome& outcome, WallTime at, Touched& touched);

}  // namespace berth::core
