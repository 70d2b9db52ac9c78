// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "core/expression.h"
#include "core/schedule.h"
#include "core/state.h"
#include "store/store.h"
#include "wire/node/message.h"

namespace berth::server {

/// What the control plane does to the world once a decision is on disk. Called on the loop's
/// thread; every call may be repeated.
class Effects {
 public:
  virtual ~Effects() = default;
  /// The node's share of the job's attempt.
  virtual void launch(const model::Job& job, const model::Node& node) = 0;
  /// Every member of the attempt has prepared.
  virtual void go(const model::Job& job, const model::NodeId& node) = 0;
  virtual void stop(const wire::node::AttemptRef& attempt, const model::NodeId& node) = 0;
  virtual void forget(const wire::node::AttemptRef& attempt, const model::NodeId& node) = 0;
  virtual void start_node(const model::Node& node) = 0;
  /// It is to end by itself, or to be ended if it does not.
  virtual void dismiss_node(const model::NodeId& node) = 0;
  /// The attempt was lost with a node and the job runs again: what there is of its log stays.
  virtual void attempt_taken(const model::JobKey& job, int attempt) = 0;
  virtual void job_changed(const model::JobKey& job) = 0;
  /// Changes were lost with a failed commit: let every node say again what it holds.
  virtual void resynchronise() = 0;
};

struct PlaneOptions {
  core::Settings settings{};
  int local_gpus = 0;  ///< Devices of this machine, when the site 'local' is made.
  Duration node_idle =
      std::chrono::minutes(2);  ///< Of the target 'local': then its node is let go.
  /// Of each attempt: never the same twice.
  std::function<std::string()> make_fence = [] { return random_hex(4); };
  /// Somebody may do more or less than before, and that is on disk.
  std::function<void()> on_access_changed{};
};

/// Owns the State. Decide, record, act: every change is applied at once, handed to the store in the
/// same turn of the loop, and acted on, or answered, only when its commit is on disk.
///
/// Loop thread only. A commit that fails never happened: the state is loaded again, whoever waited
/// gets the error, running work is not touched.
class ControlPlane {
 public:
  ControlPlane(store::Store& store, Effects& effects, const Clock& clock, PlaneOptions options);
  ~ControlPlane();

  /// Loads what is live, makes the default workspace when there is none.
  Status start();

  const core::State& state() const { return state_; }

  // What users ask for. The result is what the answer shows; answer after when_durable().

  const model::Workspace* find_workspace(std::string_view subscription, std::string_view group,
                                         std::string_view name) const;
  const model::Workspace* find_workspace(const model::WorkspaceId& id) const;
  /// Makes it, or updates what may change of the one with the same subscription, group and name.
  Result<model::Workspace> put_workspace(model::Workspace workspace);
  Status delete_workspace(const model::WorkspaceId& workspace);
  Result<model::Workspace> set_retention(const model::WorkspaceId& workspace,
                                         const model::Retention& retention);

  // Sites and computes (control_plane_computes.cc).

  /// Makes it, or changes what may change of the one with the same name.
  Result<model::Site> put_site(model::Site site);
  /// Refused while a compute is on it; 'local' always stays.
  Status remove_site(const std::string& name);
  /// nullptr when there is none of that name, whatever its case.
  const model::Compute* find_compute(const model::WorkspaceId& workspace,
                                     std::string_view name) const;
  struct PutCompute {
    model::Compute compute{};
    bool made = false;
    std::string notice{};  ///< Worth telling once: "location 'westeurope' …".
  };
  /// Makes the cluster, or changes what may change of it; another size, tier or location of one
  /// that exists is a Conflict.
  Result<PutCompute> put_compute(model::Compute draft);
  /// It goes with its last node. With work of its own, either that is cancelled or this is refused.
  Status delete_compute(const model::ComputeKey& key, bool cancel_jobs);
  /// As if somebody else needed its room: its job is stopped and queued again, the node goes.
  Status preempt_node(const model::NodeId& node);

  /// Live or finished.
  Result<model::Job> job(const model::JobKey& key) const;
  /// The same as the disk has it: a change that is still on its way there is not seen yet.
  Result<model::Job> recorded_job(const model::JobKey& key) const;
  struct Submitted {
    model::Job job{};
    bool made = false;  ///< False: the name was there already, with the same spec.
  };
  /// Accepts the job, or, when the name exists with the same spec, updates what may change. Another
  /// spec under the same name is a Conflict.
  Result<Submitted> submit(model::Job draft);
  /// What people call it, and its tags, over or not: those in `lost` go, those in `tags` are set.
  Status rename_job(const model::JobKey& key, const std::string& display_name);
  Status tag_job(const model::JobKey& key, const std::map<std::string, std::string>& tags,
                 const std::vector<std::string>& lost);
  /// Ends it as soon as may be; of a job that is over, does nothing.
  Result<model::Job> cancel(const model::JobKey& key);
  /// Only of a job that is over, and whose files no live job reads.
  Status delete_job(const model::JobKey& key);
  /// The same for a job that may have left very much: takes the first part of it away. Nobody can
  /// refer to the job or use its name until delete_job() or abandon_deletion().
  Status begin_deletion(const model::JobKey& key);
  void abandon_deletion(const model::JobKey& key) { going_.erase(key); }
  bool is_going(const model::JobKey& key) const { return going_.contains(key); }
  /// Whether delete_job() would refuse it, and why.
  Status check_deletable(const model::JobKey& key) const;
  /// Why it waits, in a sentence.
  Result<std::string> explain(const model::JobKey& key) const;

  // Users, tokens and roles (control_plane_access.cc). `by` is who asks.

  /// Makes the user, or changes the display name of the one there is.
  Result<model::User> put_user(const std::string& name, const std::string& display_name,
                               const std::string& by);
  enum class UsersJobs {
    Refuse,  ///< Conflict when some are not over.
    Cancel,  ///< Their tokens are dead at once.
    Keep,    ///< They go on as they are, tokens and all.
  };
  /// With their tokens and roles. What they submitted stays; `jobs` says what becomes of those of
  /// their jobs that are not over.
  Status delete_user(const std::string& name, UsersJobs jobs = UsersJobs::Refuse);
  struct NewToken {
    model::Token token{};
    std::string text{};  ///< To be shown once: only its hash is kept.
  };
  /// The draft says id, user, name, workspace and expiry. An id that is there gets another secret.
  Result<NewToken> make_token(model::Token draft);
  Status revoke_token(const model::TokenId& token);
  /// The same role of the same user in the same place under another id is a Conflict.
  Result<model::RoleAssignment> assign_role(model::RoleAssignment draft);
  Status remove_role(const model::RoleAssignmentId& assignment);

  /// Between the two, changes are collected: they reach the store as one batch, all or nothing.
  void begin_batch() { ++open_batches_; }
  bool has_changes() const { return turn_ != nullptr; }  ///< Not handed to the store yet.
  void end_batch();
  /// Instead of end_batch(), when what was begun cannot be brought to its end: what was changed in
  /// the batch never happened, as if its commit had failed.
  void give_up_batch();

  /// Rows that are not part of the State: assets, blobs.
  void write(store::Batch batch);

  /// So many changes wait for the disk that users should come again later.
  bool is_clogged() const;

  /// Calls back when all that was changed so far is on disk, or with the error if it never will be.
  void when_durable(std::function<void(Status)> done);

  // What nodes report. Reports of an older attempt, or for another node's job, change nothing.

  using Held = wire::node::AttemptRef;
  struct Joining {
    int slots = 1;
    std::string work_root{};
    std::string address{};
    std::optional<WallTime> ends_at{};
    bool is_leaving = false;  ///< As node_withdrew() says.
  };
  /// The node is here and holds these attempts: launches what it should have and has not, stops
  /// what it should not have.
  Status node_joined(const model::NodeId& node, const Joining& joining,
                     const std::vector<Held>& held);
  void node_works_ahead(const model::NodeId& node, int attempts);
  void node_detached(const model::NodeId& node);
  /// It says that it goes, and not by our will: what it holds may end there, and nothing more is
  /// given to it.
  void node_withdrew(const model::NodeId& node);
  /// Its provider has taken it; `note` is what the site says of it.
  void node_started(const model::NodeId& node, const std::string& note);
  void node_start_failed(const model::NodeId& node, const std::string& error);
  void node_gone(const model::NodeId& node);
  /// The server is about to stop: the node may go on without it until then.
  void extend_lease(const core::NodeLeaseExtended& lease);
  bool holds(const model::NodeId& node, const Held& attempt) const;
  void job_advanced(const model::NodeId& node, const Held& attempt, model::JobStatus status);
  void member_prepared(const model::NodeId& node, const Held& attempt, const std::string& address,
                       int port);
  /// It was not begun there and is queued again; one that is to be cancelled is over.
  void job_returned(const model::NodeId& node, const Held& attempt);
  /// Its command was started then; recorded with its end, which must follow.
  void job_began(const model::NodeId& node, const Held& attempt, WallTime at);
  /// `more` are rows that belong to the end (its log). The end is acknowledged by Effects::forget.
  void job_ended(const model::NodeId& node, const Held& attempt, model::Outcome outcome,
                 store::Batch more);

  /// Called a few times a second: lets idle nodes go, and tries again what a failed commit undid.
  void tick();

 private:
  struct Turn;

  Turn& turn();
  void apply(const core::Event& event);
  void note_idleness(const model::NodeId& node);
  void decide();
  void carry_out(const core::Plan& plan);
  void request(model::Node node);
  void place(core::JobPlaced placed);
  void preempt(const model::NodeId& node, const std::string& reason);
  void stop_rest(const model::JobKey& job);
  void after_loss(const model::JobKey& job);
  void dismiss_leaving();
  void launch_member(const model::JobKey& job, const model::NodeId& node);
  void flush();
  void committed(const std::shared_ptr<Turn>& turn, const Status& status);
  void act(const Turn& turn);
  void settle_deletions(const Turn& turn);
  void reload();
  Status make_first_things();
  std::vector<core::ComputeChoice> choices(const model::WorkspaceId& workspace) const;
  Result<Submitted> resubmit(const model::Job& existing, const model::Job& draft);
  void launch_or_settle(const model::Job& job, const model::NodeId& node,
                        const std::vector<Held>& held);
  void relabel(const model::Job& job, const core::JobRelabelled& labels);

  store::Store& store_;
  Effects& effects_;
  const Clock& clock_;
  PlaneOptions options_;
  core::State state_;
  std::int64_t next_sequence_ = 1;
  std::int64_t next_node_sequence_ = 1;
  std::shared_ptr<Turn> turn_;                   ///< Changes not handed to the store yet.
  std::deque<std::shared_ptr<Turn>> in_flight_;  ///< Handed over, in order.
  std::set<model::JobKey> going_;                ///< Their deletion has begun.
  std::multiset<model::JobKey> deleting_;        ///< Deleted, and the disk does not know it yet.
  int open_batches_ = 0;
  std::optional<Error> failure_;  ///< A commit failed and the state has not been loaded again yet.
  core::IdleSince idle_since_;
  std::map<model::NodeId, TimePoint> leaving_since_;  ///< Nodes that can still be recalled.
};

}  // namespace berth::server
