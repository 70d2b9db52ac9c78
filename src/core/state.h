// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/access.h"
#include "core/entity.h"
#include "core/recent_specs.h"
#include "model/size.h"
#include "model/target_id.h"
#include "model/usage.h"

namespace berth::core {

/// Where a job is to run: 'local', also when it names no compute or "serverless".
model::TargetId target_of(const model::Job& job);
/// The compute of that name, in any case, as a workspace has it.
model::TargetId target_of(const model::WorkspaceId& workspace, std::string_view name);

/// A job's place in the line of its target: priority, then age.
struct Place {
  int urgency = 0;  ///< The negated priority: what is more urgent sorts first.
  std::int64_t sequence = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
};

/// What the operator has set; the same for as long as the server runs. Not stored.
struct Settings {
  model::Compute local = model::local_compute(1);  ///< The built-in compute, and its slots.
  int machine_cores = 1;                           ///< No node of this machine offers more.
  std::int64_t machine_memory_mib = 1024;
  int max_requeues = 100;  ///< Then a job whose attempts are taken from it fails.
  model::SizeCatalogue sizes{};
};

/// What waits for one target, and its nodes and their demand, counted.
struct TargetIndex {
  std::map<Place, model::JobKey> line{};  ///< The Queued jobs.
  std::set<model::NodeId> nodes{};        ///< All of them.
  std::set<model::NodeId> vacant{};       ///< Ready, with a free slot.
  std::set<model::NodeId> roomy{};        ///< Ready, without one, but one more may wait there.
  std::set<model::NodeId> recallable{};   ///< Leaving, but not told so yet.
  int staying = 0;                        ///< Neither leaving nor preempted.
  int busy = 0;                           ///< Staying, and holding a job.
  std::set<model::JobKey> engine_runs{};  ///< Jobs whose attempts its engine is to have.
  std::int64_t wanted_nodes = 0;  ///< The sum of instance counts of queued jobs it can hold.

  friend bool operator==(const TargetIndex&, const TargetIndex&) = default;
};

/// What the nodes of one site use of it, until they are gone.
struct SiteUse {
  int nodes = 0;
  int cores = 0;
  std::int64_t memory_mib = 0;
  std::set<int> gpus{};

  friend bool operator==(const SiteUse&, const SiteUse&) = default;
};

/// Everything that can still change. Plain data, owned by one thread; ordered maps, so that every
/// decision is reproducible. A job or a deployment that is over leaves it and lives on only in the
/// store.
struct State {
  Settings settings{};
  std::map<model::WorkspaceId, model::Workspace> workspaces{};
  std::map<std::string, model::Site> sites{};  ///< By name.
  std::map<model::ComputeKey, model::Compute> computes{};
  std::map<model::JobKey, model::Job> jobs{};
  std::map<model::NodeId, model::Node> nodes{};
  Access access{};
  std::map<model::DeploymentKey, model::TemplateDeployment> deployments{};
  std::map<model::OperationKey, model::DeploymentOperation> operations{};  ///< Of those.

  // Derived, so that a decision never looks at all jobs or nodes. apply_event() keeps them; whoever
  // fills the maps above by other means calls rebuild_indexes().
  std::map<model::NodeId, std::set<model::JobKey>> held{};  ///< Nodes that hold any, and which.
  /// The jobs that are not over of each that is named as a parent, whether it is there or not.
  std::map<model::JobKey, std::set<model::JobKey>> children{};
  std::map<model::TargetId, TargetIndex> targets{};  ///< Those with nodes, runs or queued jobs.
  std::map<std::string, SiteUse> site_use{};         ///< Sites with nodes of clusters.
  std::size_t queued = 0;                            ///< How many jobs stand in some line.
  std::size_t under_way = 0;                         ///< How many jobs hold anything.
  RecentSpecs recent_specs{};
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
/// Made or changed.
struct UserMade {
  model::User user{};
};
/// With their tokens and roles.
struct UserDeleted {
  model::UserId user{};
};
/// Made, or given another secret.
struct TokenMade {
  model::Token token{};
};
struct TokenRevoked {
  model::TokenId token{};
};
struct RoleAssigned {
  model::RoleAssignment assignment{};
};
struct RoleRemoved {
  model::RoleAssignmentId assignment{};
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
/// As many nodes as it asked for, by rank.
struct JobPlaced {
  model::JobKey job{};
  std::vector<model::NodeId> nodes{};
  WallTime at{};
  std::string fence{};
};
/// The node works on its share of the attempt: Preparing, Running or Finalizing.
struct JobAdvanced {
  model::JobKey job{};
  int attempt = 0;
  model::NodeId node{};
  model::JobStatus status = model::JobStatus::Running;
  WallTime at{};
};
/// The node has fetched everything and waits for its peers.
struct MemberPrepared {
  model::JobKey job{};
  int attempt = 0;
  model::NodeId node{};
  std::string address{};
  int port = 0;
};
/// A probe of the service has turned out otherwise than the one before.
struct EndpointChanged {
  model::JobKey job{};
  int attempt = 0;
  model::NodeId node{};
  model::Endpoint endpoint{};
};
/// The node gives it back before it was begun.
struct JobReturned {
  model::JobKey job{};
  int attempt = 0;
  model::NodeId node{};
  WallTime at{};
};
struct JobCancelRequested {
  model::JobKey job{};
  WallTime at{};
};
/// The attempt is to be stopped, and the job queued again when it has been.
struct JobPreempted {
  model::JobKey job{};
  int attempt = 0;
  std::string reason{};
  WallTime at{};
};
/// The node's share of the attempt is over. With the last one the attempt is: the job ends, or is
/// queued again because the attempt was taken from it, or because a service is to be run again.
struct JobEnded {
  model::JobKey job{};
  int attempt = 0;
  model::NodeId node{};
  model::Outcome outcome{};
  WallTime at{};
};
/// The next attempt is for the engine of the job's compute, which queues it.
struct EngineRunStarted {
  model::JobKey job{};
  WallTime at{};
  std::string fence{};
};
/// The engine has it: Starting while it waits there, then Preparing, Running or Finalizing.
struct EngineRunAdvanced {
  model::JobKey job{};
  int attempt = 0;
  model::JobStatus phase = model::JobStatus::Starting;
  std::string note{};
  WallTime at{};
};
/// The engine did not say that it has it; it is asked again.
struct EngineRunRefused {
  model::JobKey job{};
  int attempt = 0;
  std::string error{};
};
/// The engine says how it ended. One that it stopped and nobody asked it to was taken from the job.
struct EngineRunEnded {
  model::JobKey job{};
  int attempt = 0;
  model::Outcome outcome{};
  WallTime at{};
};
/// The engine does not have it, and nobody will ever know how it ended.
struct EngineRunLost {
  model::JobKey job{};
  int attempt = 0;
  WallTime at{};
};
/// Of a job that is made of others, when they are over.
struct ParentEnded {
  model::JobKey job{};
  model::JobStatus status = model::JobStatus::Completed;
  std::optional<model::JobError> error{};
  WallTime at{};
};
struct JobDeleted {
  model::JobKey job{};
};
/// A job that is over, and so no longer in the State, is there again until the next change of it is
/// on disk.
struct JobBroughtBack {
  model::Job job{};
};
/// What its maker should know of it.
struct JobWarned {
  model::JobKey job{};
  std::vector<std::string> warnings{};
};
/// Made or changed.
struct SiteMade {
  model::Site site{};
};
struct SiteRemoved {
  std::string site{};
};
/// Made or changed.
struct ComputeMade {
  model::Compute compute{};
};
/// It takes no more jobs and goes with its last node.
struct ComputeDeleteRequested {
  model::ComputeKey compute{};
  WallTime at{};
};
struct ComputeGone {
  model::ComputeKey compute{};
};
struct NodeRequested {
  model::Node node{};
};
/// The provider has taken it, or says something new about why it is not there yet.
struct NodeStarted {
  model::NodeId node{};
  std::string note{};
};
struct NodeStartFailed {
  model::NodeId node{};
  std::string error{};
  WallTime at{};
};
struct NodeJoined {
  model::NodeId node{};
  int slots = 1;
  std::string work_root{};
  std::string address{};
  std::optional<WallTime> ends_at{};
  WallTime at{};
};
/// It wants so many attempts at hand beyond those it has slots for.
struct NodeWorksAhead {
  model::NodeId node{};
  int attempts = 0;
};
struct NodeDetached {
  model::NodeId node{};
};
/// The server stops, and the node may go on without it until then.
struct NodeLeaseExtended {
  model::NodeId node{};
  WallTime until{};
  Duration until_since_boot{};  ///< The same by since_boot() …
  std::string boot{};           ///< … of this start of the server's machine.
};
/// It is to go; until it is dismissed it may be recalled.
struct NodeToldToLeave {
  model::NodeId node{};
};
struct NodeRecalled {
  model::NodeId node{};
};
struct NodeDismissed {
  model::NodeId node{};
};
/// Taken for somebody else. Its jobs are preempted by events of their own.
struct NodePreempted {
  model::NodeId node{};
};
/// The node is gone for good. What it held is queued again, or is Lost, as its compute has it.
struct NodeGone {
  model::NodeId node{};
  WallTime at{};
};
/// Takes the place of one of that name that is over.
struct DeploymentBegun {
  model::TemplateDeployment deployment{};
};
/// Of one that an earlier Berth began, whose row does not say its steps.
struct DeploymentPlanned {
  model::DeploymentKey deployment{};
  std::string id{};
  std::vector<model::DeploymentStep> steps{};
};
/// A server that has just started goes on with it.
struct DeploymentResumed {
  model::DeploymentKey deployment{};
  std::string id{};
};
/// What became of its next resource.
struct ResourceSettled {
  model::DeploymentKey deployment{};
  model::DeploymentOperation line{};
};
/// Succeeded, Failed or Canceled.
struct DeploymentEnded {
  model::DeploymentKey deployment{};
  std::string id{};
  model::DeploymentState state = model::DeploymentState::Failed;
  boost::json::object outputs{};
  std::string error_code{};
  std::string error{};
  WallTime at{};
};
/// Of one that is over.
struct DeploymentDeleted {
  model::DeploymentKey deployment{};
  std::string id{};
};

using Event =
    std::variant<WorkspaceMade, WorkspaceDeleted, SiteMade, SiteRemoved, ComputeMade,
                 ComputeDeleteRequested, ComputeGone, JobSubmitted, JobRelabelled, JobPlaced,
                 JobAdvanced, MemberPrepared, EndpointChanged, JobReturned, JobCancelRequested,
                 JobPreempted, JobEnded, EngineRunStarted, EngineRunAdvanced, EngineRunRefused,
                 EngineRunEnded, EngineRunLost, ParentEnded, JobDeleted, JobBroughtBack, JobWarned,
                 NodeRequested, NodeStarted, NodeStartFailed, NodeJoined, NodeWorksAhead,
                 NodeDetached, NodeLeaseExtended, NodeToldToLeave, NodeRecalled, NodeDismissed,
                 NodePreempted, NodeGone, UserMade, UserDeleted, TokenMade, TokenRevoked,
                 RoleAssigned, RoleRemoved, DeploymentBegun, DeploymentPlanned, DeploymentResumed,
                 ResourceSettled, DeploymentEnded, DeploymentDeleted>;

/// What an event touched, and so what must be written: touched.of<model::Job>() has keys of jobs.
struct Touched : EntityKeys {
  std::vector<model::Usage> usage{};  ///< Time that came to its end with this.
};

/// Folds one event into the state. Cannot fail, does no I/O, makes no choices. A report about
/// something unknown, already settled or from an earlier attempt touches nothing: networks repeat
/// and delay. A job or a deployment that ends stays in the state until forget_ended() after the
/// commit.
Touched apply_event(State& state, const Event& event);

/// Drops those of them that are jobs or deployments and are over, once the commit that holds their
/// end is on disk.
void forget_ended(State& state, const EntityKeys& ended);

/// Aborts unless the state is consistent: jobs, nodes and indexes agree. Tests call it after every
/// event.
void check_invariants(const State& state);

/// nullptr: it is not there any more.
const model::Compute* compute_of(const State& state, const model::TargetId& target);
/// Empty when nothing waits there and nothing is there.
const TargetIndex& index_of(const State& state, const model::TargetId& target);
int jobs_at(const State& state, const model::Node& node);
/// Whether it is the node of a compute that is one machine.
bool is_machine(const State& state, const model::NodeId& node);
/// nullptr: it is no cluster, or not there any more.
const model::Cluster* cluster_of(const State& state, const model::TargetId& target);
/// The price of an hour and the size of a cluster's node, as it has it now.
const model::VmSize* size_of(const State& state, const model::Cluster& cluster);

/// Jobs that hold a slot of the node now, in key order.
std::vector<const model::Job*> jobs_on(const State& state, const model::NodeId& node);

}  // namespace berth::core
