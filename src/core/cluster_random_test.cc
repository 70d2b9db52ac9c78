// SPDX-License-Identifier: Apache-2.0
// Random but reproducible histories of clusters. A failure prints its seed.
#include <random>

#include "core/cluster_fixture.h"

namespace berth::core {
namespace {

/// Two clusters of two tiers on a small site, and anything that can happen to them.
class RandomClusters : public ClusterTest {
 protected:
  int pick(int bound) { return std::uniform_int_distribution(0, bound - 1)(random); }

  std::optional<model::Node> some_node() {
    if (state.nodes.empty()) return std::nullopt;
    return std::next(state.nodes.begin(), pick(static_cast<int>(state.nodes.size())))->second;
  }

  void happen() {
    const model::JobKey job = key("j" + std::to_string(pick(8)));
    const auto node = some_node();
    const JobStatus reports[] = {JobStatus::Preparing, JobStatus::Running, JobStatus::Finalizing};
    switch (pick(12)) {
      case 0:
      case 1:
      case 2: return submit(job);
      case 3: return touch(JobCancelRequested{job, at(now)});
      case 4:
        if (node) touch(JobAdvanced{job, pick(4), node->id, reports[pick(3)], at(now)});
        return;
      case 5:
      case 6:
      case 7: return end_some(job);
      case 8:
        if (node) touch(NodeJoined{.node = node->id, .at = at(now)});
        return;
      case 9:
        if (node)
          touch(pick(2) == 0 ? Event(NodeDetached{node->id})
                             : Event(NodeStartFailed{node->id, "no", at(now)}));
        return;
      case 10:
        if (node && pick(3) == 0) touch(NodeGone{node->id, at(now)});
        return;
      default:
        if (node) touch(NodeDismissed{node->id});
    }
  }

  void submit(const model::JobKey& job) {
    touch(
        JobSubmitted{{.key = job,
                      .sequence = ++sequence,
                      .spec = model::JobSpec{
                          .work = model::CommandWork{.resources = {.instance_count = 1 + pick(3)}},
                          .compute = pick(2) == 0 ? "low" : "ded",
                          .priority = 1 + pick(3)}}});
  }

  void end_some(const model::JobKey& name) {
    const auto found = state.jobs.find(name);
    if (found == state.jobs.end() || !model::holds_nodes(found->second)) return;
    const model::Job job = found->second;
    const auto& member =
        members_of(job)[static_cast<std::size_t>(pick(static_cast<int>(members_of(job).size())))];
    touch(JobEnded{name,
                   job.attempt,
                   member.node,
                   {.ending = static_cast<Ending>(pick(8)), .exit_code = pick(2)},
                   at(now)});
  }

  void touch(const Event& event) {
    const Touched touched = apply_event(state, event);
    if (pick(2) == 0) forget_ended(state, touched);
  }

  void check_limits() {
    EXPECT_LE(use_of_site(), 4);
    for (const char* name : {"low", "ded"}) {
      const auto& compute = state.computes.at(compute_key(name));
      const auto index = state.targets.find({compute.key});
      const int staying = index == state.targets.end() ? 0 : index->second.staying;
      EXPECT_LE(staying, cluster_in(&compute)->scale.max_nodes);
    }
  }

  /// A step in which every node that is asked for comes, every job ends and every leaver leaves.
  void behave() {
    const std::map<model::JobKey, model::Job> jobs = state.jobs;
    for (const auto& [name, job] : jobs) {
      const Ending ending = job.is_yielding ? Ending::Stopped : Ending::Exited;
      for (const model::Member& member : members_of(job)) {
        apply_event(state, JobEnded{name, job.attempt, member.node, {.ending = ending}, at(now)});
      }
    }
    const std::map<model::NodeId, model::Node> present = state.nodes;
    for (const auto& [id, node] : present) {
      const bool goes = node.status == NodeStatus::Leaving || node.status == NodeStatus::Preempted;
      if (goes) apply_event(state, NodeGone{id, at(now)});
      if (!goes) apply_event(state, NodeJoined{.node = id, .at = at(now)});
    }
    carry_out();
    for (const std::string& id : surplus_after(1h)) apply_event(state, NodeToldToLeave{{id}});
    check_invariants(state);
  }

  int use_of_site() {
    const auto use = state.site_use.find("local");
    return use == state.site_use.end() ? 0 : use->second.nodes;
  }

  std::mt19937 random{0};
  std::int64_t sequence = 0;
};

TEST_F(RandomClusters, KeepEveryInvariantAndEveryLimit) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    random.seed(seed);
    state = sample::with_sites();
    state.sites["local"].capacity.nodes = 4;
    sample::make_cluster(state, "low", {.max_nodes = 3}, Tier::LowPriority);
    sample::make_cluster(state, "ded", {.min_nodes = 1, .max_nodes = 3});
    for (now = 1; now < 120; ++now) {
      happen();
      carry_out();
      for (const std::string& id : surplus_after(1h)) {
        if (pick(4) == 0) apply_event(state, NodeToldToLeave{{id}});
      }
      check_invariants(state);
      check_limits();
    }
  }
}

/// Whatever happened, when the world behaves again every job comes to an end and every node goes.
TEST_F(RandomClusters, EveryJobEndsAndEveryNodeGoesOnceTheWorldBehaves) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    random.seed(seed);
    state = sample::with_sites();
    state.sites["local"].capacity.nodes = 4;
    sample::make_cluster(state, "low", {.max_nodes = 3}, Tier::LowPriority);
    sample::make_cluster(state, "ded", {.max_nodes = 3});
    for (now = 1; now < 60; ++now) {
      happen();
      carry_out();
    }
    for (; now < 200; ++now) behave();
    for (const auto& [name, job] : state.jobs) EXPECT_TRUE(is_terminal(job.status)) << name.name;
    EXPECT_TRUE(state.nodes.empty());
  }
}

}  // namespace
}  // namespace berth::core
