// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "model/job.h"
#include "model/node.h"
#include "model/workspace.h"

namespace berth::core {

/// The one built-in target for now: the server's own machine, as one node with a slot per core.
inline constexpr const char* kLocalTarget = "local";

/// Where a job is to run: its own compute, or the default one when it names none or "serverless".
std::string target_of(const model::JobSpec& spec);

/// A job's place in the line of its target: priority, then age.
struct QueueEntry {
  std::string target{};
  int urgency = 0;  ///< The negated priority: what is more urgent sorts first.
  std::int64_t sequence = 0;
  model::JobKey job{};

  friend auto operator<=>(const QueueEntry&, const QueueEntry&) = default;
};

/// Everything that can still change. Plain data, owned by one thread; ordered maps, so that every
/// decision is reproducible. A finished job leaves it and lives on only in the store.
struct State {
  std::map<model::WorkspaceId, model::Workspace> workspaces{};
  std::map<model::JobKey, model::Job> jobs{};
  std::map<model::NodeId, model::Node> nodes{};

  // Derived from the jobs, so that a decision never looks at all of them. apply_event() keeps both;
  // whoever fills the maps above by other means calls rebuild_indexes().
  std::set<QueueEntry> queue{};                             ///< The Queued jobs.
  std::map<model::NodeId, std::set<model::JobKey>> held{};  ///< Nodes that hold any, and which.
};

void rebuild_indexes(State& state);

/// Facts, in the past tense. An event carries its own time and is recorded before anything that
/// follows from it leaves the process.
struct WorkspaceMade {
  model::Workspace workspace{};
};
struct WorkspaceDeleted {
  model::WorkspaceId workspace{};
};
struct JobSubmitted {
  model::Job job{};
};
/// Display name, description, tags, properties and archive flag, as they are to be.
struct JobRelabelled {
  model::JobKey job{};
  std::string display_name{};
  std::string description{};
  std::map<std::string, std::string> tags{};
  std::map<std::string, std::string> properties{};
  bool is_archived = false;
  WallTime at{};
};
struct JobPlaced {
  model::JobKey job{};
  model::NodeId node{};
  WallTime at{};
};
/// The node works on the attempt: Preparing, Running or Finalizing.
struct JobAdvanced {
  model::JobKey job{};
  int attempt = 0;
  model::JobStatus status = model::JobStatus::Running;
  WallTime at{};
};
struct JobCancelRequested {
  model::JobKey job{};
  WallTime at{};
};
struct JobEnded {
  model::JobKey job{};
  int attempt = 0;
  model::Outcome outcome{};
  WallTime at{};
};
struct JobDeleted {
  model::JobKey job{};
};
struct NodeRequested {
  model::Node node{};
};
struct NodeJoined {
  model::NodeId node{};
  int slots = 1;
  std::string work_root{};
};
struct NodeDetached {
  model::NodeId node{};
};
struct NodeToldToLeave {
  model::NodeId node{};
};
/// The node is gone for good. What it still held is Lost.
struct NodeGone {
  model::NodeId node{};
  WallTime at{};
};

using Event = std::variant<WorkspaceMade, WorkspaceDeleted, JobSubmitted, JobRelabelled, JobPlaced,
                           JobAdvanced, JobCancelRequested, JobEnded, JobDeleted, NodeRequested,
                           NodeJoined, NodeDetached, NodeToldToLeave, NodeGone>;

/// What an event touched, and so what must be written.
struct Touched {
  std::set<model::WorkspaceId> workspaces{};
  std::set<model::JobKey> jobs{};
  std::set<model::NodeId> nodes{};
};

/// Folds one event into the state. Cannot fail, does no I/O, makes no choices. A report about
/// something unknown, already settled or from an earlier attempt touches nothing: networks repeat
/// and delay. A job that ends stays in the state, terminal, until forget_ended() after the commit.
Touched apply_event(State& state, const Event& event);

/// Drops jobs that are over, once the commit that holds their end is on disk.
void forget_ended(State& state, const std::set<model::JobKey>& jobs);

/// Aborts unless the state is consistent: jobs, nodes and indexes agree. Tests call it after every
/// event.
void check_invariants(const State& state);

/// Jobs that hold a slot of the node now, in key order.
std::vector<const model::Job*> jobs_on(const State& state, const model::NodeId& node);

}  // namespace berth::core
