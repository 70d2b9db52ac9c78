// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/job.h"
#include "sim/deployment_judge.h"
#include "sim/timeline.h"
#include "store/store.h"
#include "wire/node/message.h"

namespace berth::sim {

/// Every submit of a simulated user has a number of its own, which is all that its command says.
/// Names are used again; these are not. The children of an array have the numbers behind its own.
using Submission = int;
constexpr int kNumbersOfOne = 10;
using Variables = std::map<std::string, std::string>;
std::string command_of(Submission submission);
Submission submission_of(const std::string& command, const Variables& variables);
Submission submission_of(const model::Job& job);

/// Sees what the server cannot: what really runs, what users were told, what is on the disk. Says
/// what is wrong at the moment it becomes so; only the first is kept.
class Judge {
 public:
  explicit Judge(Journal& journal) : journal_(journal) {}

  const std::optional<std::string>& verdict() const { return verdict_; }
  void blame(std::string what);

  // What users do and are told.
  void accepted(Submission submission, const model::JobKey& job);
  void cancel_asked(const model::JobKey& job) { cancel_asked_.insert(job); }
  void delete_asked(const model::JobKey& job) { delete_asked_.insert(job); }
  bool is_delete_asked(const model::JobKey& job) const { return delete_asked_.contains(job); }

  /// Of deployments of templates.
  const DeploymentJudge& deployments() const { return deployments_; }
  void deployment_accepted(const model::DeploymentKey& key, const std::string& id) {
    blame_for(deployments_.accepted(key, id));
  }
  void deployment_cancel_asked(const std::string& id) { deployments_.cancel_asked(id); }
  void deployment_delete_asked(const std::string& id) { deployments_.delete_asked(id); }

  // The disk.
  void committed(const store::Batch& batch);
  bool has_node(const model::NodeId& node) const { return nodes_.contains(node); }
  /// The disk is now what it was then, and what was promised since is void.
  struct Memory;
  std::shared_ptr<const Memory> remember() const;
  void restored(const std::shared_ptr<const Memory>& memory);

  // What really happens on nodes.
  struct Run {
    Submission submission = 0;
    int attempt = 0;
    std::string node{};
    int timeline = 0;  ///< How often a backup had been restored when it was launched.

    friend auto operator<=>(const Run&, const Run&) = default;
  };
  /// The timeline in which an attempt is launched now.
  int timeline() const { return timeline_; }
  void started(const Run& run);
  /// By a request that was given up long ago: nobody could keep it from running for a moment.
  void started_late(const Run& run) { runs_.try_emplace(run); }
  void ended(const Run& run, const model::Outcome& outcome);

  /// Users' jobs that were acknowledged, are still there, and are not over.
  std::vector<std::string> unfinished() const;
  /// Is everything that was acknowledged still there?
  void check_promises();
  bool is_on_disk(const model::JobKey& job) const { return jobs_.contains(job); }
  const std::map<model::JobKey, model::Job>& jobs() const { return jobs_; }
  bool anything_runs() const { return !running_.empty(); }

 private:
  struct Ran {
    std::optional<model::Outcome> outcome{};
  };

  void blame_for(const DeploymentJudge::Complaint& complaint) {
    if (complaint) blame(*complaint);
  }
  void put(const model::Job& job);
  void deleted(const model::JobKey& job);
  void forget(Submission submission);
  void check_family(const model::Job& job);
  void check_children_ended(const model::Job& head, const model::ArrayWork& array);
  const model::Job* find_job(const model::JobKey& key) const;
  void check_end(const model::Job& job);
  void check_exit(const model::Job& job);
  bool counts(const Run& run) const;

  Journal& journal_;
  std::optional<std::string> verdict_{};
  DeploymentJudge deployments_{};
  std::map<Submission, model::JobKey> promised_{};
  std::set<model::JobKey> cancel_asked_{};
  std::set<model::JobKey> delete_asked_{};
  std::map<model::JobKey, model::Job> jobs_{};      ///< As they are on the disk.
  std::map<Submission, std::int64_t> sequences_{};  ///< Under which it was recorded.
  std::map<Submission, int> attempts_{};            ///< The highest that was recorded.
  std::map<Submission, model::JobStatus> ends_{};
  std::set<model::NodeId> nodes_{};
  std::map<Run, Ran> runs_{};
  std::set<Run> running_{};
  int timeline_ = 0;
  std::map<Submission, int> attempts_at_restore_{};
};

struct Judge::Memory {
  std::map<model::JobKey, model::Job> jobs{};
  std::map<Submission, std::int64_t> sequences{};
  std::map<Submission, int> attempts{};
  std::map<Submission, model::JobStatus> ends{};
  std::set<model::NodeId> nodes{};
  DeploymentJudge::Disk deployments{};
};

}  // namespace berth::sim
