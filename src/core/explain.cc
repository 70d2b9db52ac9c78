// SPDX-License-Identifier: Apache-2.0
// Why a job waits, from the same counts that decide when it starts.
#include <fmt/format.h>

#include <algorithm>

#include "core/placement.h"
#include "core/room.h"
#include "core/schedule.h"

namespace berth::core {
namespace {

using model::JobStatus;
using model::NodeStatus;

std::string counted(std::int64_t count, const char* one, const char* many) {
  return count == 1 ? fmt::format("1 {}", one) : fmt::format("{} {}", count, many);
}

struct Line {
  std::size_t ahead = 0;
  bool has_gang = false;  ///< One that is ahead asks for several nodes.
};

Line line_before(const State& state, const model::Job& job) {
  const model::TargetId target = target_of(job);
  Line line;
  for (const auto& [place, other] : index_of(state, target).line) {
    if (other == job.key) break;
    ++line.ahead;
    line.has_gang |= nodes_of_attempt(state.jobs.at(other).spec) > 1;
  }
  return line;
}

std::string ahead_of(const Line& line) {
  if (line.ahead == 0) return "it is the next";
  return line.ahead == 1 ? "1 job is ahead of it"
                         : fmt::format("{} jobs are ahead of it", line.ahead);
}

// ---- Machines ----------------------------------------------------------------------------------

std::string explain_machine(const State& state, const model::Job& job,
                            const model::Compute& compute, const model::Attached& attached) {
  const std::string ahead = ahead_of(line_before(state, job));
  const auto node = state.nodes.find({attached.machine});
  if (node == state.nodes.end()) {
    return fmt::format("waits for a node of '{}' with {} slots to be started; {}", compute.name,
                       attached.slots, ahead);
  }
  if (node->second.status == NodeStatus::Detached) {
    return fmt::format("waits for the node of '{}' to connect again; {}", compute.name, ahead);
  }
  if (node->second.status != NodeStatus::Ready) {
    return fmt::format("waits for the node of '{}', which is starting; {}", compute.name, ahead);
  }
  const auto held = state.held.find(node->first);
  const std::size_t taken = held == state.held.end() ? 0 : held->second.size();
  if (taken < static_cast<std::size_t>(node->second.slots)) {
    return fmt::format("is about to start on '{}'", compute.name);
  }
  return fmt::format("waits for a free slot on '{}': {} of {} are taken; {}", compute.name, taken,
                     node->second.slots, ahead);
}

// ---- Engines -----------------------------------------------------------------------------------

std::string explain_engine(const State& state, const model::Job& job, const model::Compute& compute,
                           const model::AttachedEngine& engine) {
  const auto index = state.targets.find(target_of(job));
  const std::size_t runs = index == state.targets.end() ? 0 : index->second.engine_runs.size();
  if (!engine.at_once || static_cast<int>(runs) < *engine.at_once) {
    return fmt::format("is about to be handed to '{}'", compute.name);
  }
  return fmt::format("waits for '{}', which takes {} at once and has {}; {}", compute.name,
                     counted(*engine.at_once, "job", "jobs"), runs,
                     ahead_of(line_before(state, job)));
}

std::string explain_run(const model::Job& job, const model::EngineRun& run) {
  const std::string note = run.note.empty() ? "" : fmt::format(" ({})", run.note);
  if (job.cancel_requested) return fmt::format("is being stopped by '{}'", run.engine);
  if (!run.is_taken && run.note.empty()) return fmt::format("is being handed to '{}'", run.engine);
  if (!run.is_taken) {
    return fmt::format("is not taken by '{}' so far{}; Berth tries again by itself", run.engine,
                       note);
  }
  if (run.phase == JobStatus::Starting) {
    return fmt::format("waits in the queue of '{}'{}", run.engine, note);
  }
  if (run.phase == JobStatus::Preparing) {
    return fmt::format("is being prepared by '{}'{}", run.engine, note);
  }
  return "";
}

// ---- Clusters ----------------------------------------------------------------------------------

/// What stands in the way of one job on one cluster.
class ClusterWait {
 public:
  ClusterWait(const State& state, const model::Job& job, const model::Compute& compute,
              const model::Cluster& cluster)
      : state_(state),
        job_(job),
        compute_(compute),
        cluster_(cluster),
        line_(line_before(state, job)) {
    const auto found = state.targets.find(target_of(job));
    if (found != state.targets.end()) index_ = found->second;
    need_ = nodes_of_attempt(job.spec);
  }

  std::string say() const {
    std::string text =
        fmt::format("needs {} of {}; cluster '{}' has {} of at most {}",
                    counted(need_, "node", "nodes"), cluster_.size, compute_.name, index_.staying,
                    counted(cluster_.scale.max_nodes, "node", "nodes"));
    if (job_.requeues > 0) text = fmt::format("{} ({})", text, job_.requeue_reason);
    return text + obstacle() + fmt::format("; {}", ahead_of(line_));
  }

 private:
  std::string obstacle() const {
    if (need_ > cluster_.scale.max_nodes) return never();
    if (!compute_.start_error.empty()) return broken();
    if (const int coming = count(NodeStatus::Requested) + count(NodeStatus::Preparing);
        coming > 0) {
      return growing(coming);
    }
    const int wanted = wanted_nodes(state_, compute_, cluster_);
    if (index_.staying < wanted) return no_room();
    if (index_.busy >= cluster_.scale.max_nodes) return full();
    if (count(NodeStatus::Detached) > 0) {
      return ", and waits for one that is not connected to come back or to be given up";
    }
    return waiting_for_free();
  }

  std::string never() const {
    return fmt::format(
        ", so it can never start there; it would start if max_instances of '{}' were raised to {}",
        compute_.name, need_);
  }

  std::string broken() const {
    return fmt::format(", and more cannot be started: {}; Berth tries again by itself",
                       compute_.start_error);
  }

  std::string growing(int coming) const {
    std::string note;
    for (const model::NodeId& id : index_.nodes) {
      if (note.empty()) note = state_.nodes.at(id).note;
    }
    return fmt::format(", growing to {}; {} expected when site '{}' has started {}{}",
                       index_.staying, coming == 1 ? "the next node is" : "the next nodes are",
                       compute_.site, coming == 1 ? "it" : "them",
                       note.empty() ? "" : fmt::format(" ({})", note));
  }

  std::string no_room() const {
    const auto site = state_.sites.find(compute_.site);
    const auto blank = blank_node(state_, compute_, cluster_);
    if (site == state_.sites.end()) {
      return fmt::format(", and there is no site '{}' any more to start more on", compute_.site);
    }
    if (!blank) return fmt::format(", and no size '{}' is known any more", cluster_.size);
    const std::string why = lacking(site->second, use_of(state_, compute_.site), *blank,
                                    size_of(state_, cluster_)->gpus);
    if (why.empty()) return ", and is about to grow";
    return fmt::format(
        ", and site '{}' has no room for another: {}; it would start if a node of "
        "another cluster there became free",
        compute_.site, why);
  }

  std::string full() const {
    return fmt::format(
        ", all of them busy; it would start now if max_instances of '{}' were raised "
        "to {}",
        compute_.name, cluster_.scale.max_nodes + need_);
  }

  std::string waiting_for_free() const {
    const int idle = static_cast<int>(index_.vacant.size());
    if (idle == 0) return ", all of them busy";
    if (need_ > idle) {
      return fmt::format(", {} of them idle and kept for it until {} more are", idle, need_ - idle);
    }
    if (line_.has_gang) return ", and the idle ones are kept for a larger job that came first";
    return ", and is about to start";
  }

  int count(NodeStatus status) const {
    return static_cast<int>(std::ranges::count_if(index_.nodes, [&](const model::NodeId& id) {
      return state_.nodes.at(id).status == status;
    }));
  }

  const State& state_;
  const model::Job& job_;
  const model::Compute& compute_;
  const model::Cluster& cluster_;
  Line line_;
  TargetIndex index_{};
  int need_ = 1;
};

std::string explain_wait(const State& state, const model::Job& job) {
  if (job.not_before) {
    return fmt::format("is run again at {}: {}", to_iso8601(*job.not_before), job.requeue_reason);
  }
  const model::Compute* compute = compute_of(state, target_of(job));
  if (compute == nullptr) {
    return fmt::format("waits for compute '{}', which is not there any more", job.spec->compute);
  }
  if (const model::Cluster* cluster = cluster_in(compute)) {
    return ClusterWait(state, job, *compute, *cluster).say();
  }
  if (const auto* attached = std::get_if<model::Attached>(&compute->kind)) {
    return explain_machine(state, job, *compute, *attached);
  }
  if (const auto* engine = std::get_if<model::AttachedEngine>(&compute->kind)) {
    return explain_engine(state, job, *compute, *engine);
  }
  return fmt::format("waits for compute '{}', which takes no jobs", compute->name);
}

std::string node_names(const model::Job& job) {
  std::string names;
  for (const model::Member& member : members_of(job)) {
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", member.node.text);
  }
  return (members_of(job).size() == 1 ? "node " : "nodes ") + names;
}

std::string explain_children(const State& state, const model::Job& job) {
  const auto children = state.children.find(job.key);
  const std::size_t going_on = children == state.children.end() ? 0 : children->second.size();
  return fmt::format("waits for the end of {} of its jobs", going_on);
}

}  // namespace

std::string explain(const State& state, const model::Job& job) {
  if (is_terminal(job.status)) return "is over";
  if (std::holds_alternative<model::Children>(job.holding)) return explain_children(state, job);
  if (const model::EngineRun* run = engine_run_of(job)) return explain_run(job, *run);
  if (job.is_yielding) {
    return fmt::format("is being stopped on {}, to be queued again: {}", node_names(job),
                       job.requeue_reason);
  }
  switch (job.status) {
    case JobStatus::Queued: return explain_wait(state, job);
    case JobStatus::Starting:
    case JobStatus::Preparing: return "is being prepared by " + node_names(job);
    case JobStatus::CancelRequested: return "is being stopped on " + node_names(job);
    default: return "";
  }
}

}  // namespace berth::core
