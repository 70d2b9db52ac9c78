// SPDX-License-Identifier: Apache-2.0
#include "core/schedule.h"

#include <algorithm>
#include <tuple>

#include "core/placement.h"
#include "core/room.h"

namespace berth::core {
namespace {

using model::NodeStatus;

bool waits(const State& state, const model::TargetId& target) {
  return !index_of(state, target).line.empty();
}

/// Growth of the clusters, one after the other: dedicated before low priority, then as their first
/// jobs stand in line. What one takes of a site the next does not have.
class Growth {
 public:
  Growth(const State& state, Plan& plan, WallTime now) : state_(state), plan_(plan), now_(now) {}

  void run() {
    for (const model::Compute* compute : in_order()) grow(*compute, *cluster_in(compute));
  }

 private:
  std::vector<const model::Compute*> in_order() const {
    std::vector<const model::Compute*> computes;
    for (const auto& [key, compute] : state_.computes) {
      if (cluster_in(&compute) != nullptr && !compute.is_deleting) computes.push_back(&compute);
    }
    std::ranges::stable_sort(computes, {}, [this](const model::Compute* compute) {
      const auto& line = index_of(state_, {compute->key}).line;
      return std::tuple(cluster_in(compute)->tier, line.empty(),
                        line.empty() ? Place{} : line.begin()->first);
    });
    return computes;
  }

  void grow(const model::Compute& compute, const model::Cluster& cluster) {
    const TargetIndex& index = index_of(state_, {compute.key});
    int missing = wanted_nodes(state_, compute, cluster) - index.staying;
    for (auto node = index.recallable.begin(); missing > 0 && node != index.recallable.end();
         ++node, --missing) {
      plan_.recall.push_back(*node);
    }
    const std::optional<model::Node> blank = blank_node(state_, compute, cluster);
    if (missing <= 0 || !blank) return;
    const model::Site& site = state_.sites.at(compute.site);
    const int gpus = size_of(state_, cluster)->gpus;
    SiteUse& use = use_.try_emplace(compute.site, use_of(state_, compute.site)).first->second;
    for (; missing > 0; --missing) {
      model::Node node = *blank;
      node.requested_at = now_;
      if (!take_room(site, use, node, gpus)) break;
      plan_.request.push_back(std::move(node));
    }
    if (missing > 0) make_room(compute, *blank, gpus, missing);
  }

  /// Nodes of others that are on their way out count as room to come; when that is not enough, idle
  /// ones that nobody needs go, and for a dedicated cluster low-priority ones are taken.
  void make_room(const model::Compute& compute, const model::Node& blank, int gpus, int missing) {
    const model::Site& site = state_.sites.at(compute.site);
    SiteUse future = use_.at(compute.site);
    for (const auto& [key, other] : state_.computes) {
      if (other.site == compute.site) subtract_leaving(other, future);
    }
    const auto fits = [&] { return how_many_fit(site, future, blank, gpus, missing) >= missing; };
    for (const auto& [key, other] : state_.computes) {
      if (other.site == compute.site && key != compute.key) free_idle(other, future, fits);
    }
    if (cluster_in(&compute)->tier != model::Tier::Dedicated) return;
    for (const model::Node* victim : low_priority_nodes(compute.site)) {
      if (fits()) return;
      plan_.preempt.push_back(victim->id);
      taken_.insert(victim->id);
      free_room(future, *victim);
    }
  }

  void subtract_leaving(const model::Compute& other, SiteUse& future) const {
    const TargetIndex& index = index_of(state_, {other.key});
    if (index.staying == static_cast<int>(index.nodes.size()) && taken_.empty()) return;
    for (const model::NodeId& id : index.nodes) {
      const model::Node& node = state_.nodes.at(id);
      const bool is_going = node.status == NodeStatus::Leaving ||
                            node.status == NodeStatus::Preempted || taken_.contains(id);
      if (is_going) free_room(future, node);
    }
  }

  static int how_many_fit(const model::Site& site, SiteUse use, const model::Node& blank, int gpus,
                          int at_most) {
    int count = 0;
    model::Node node = blank;
    while (count < at_most && take_room(site, use, node, gpus)) ++count;
    return count;
  }

  template <typename Fits>
  void free_idle(const model::Compute& other, SiteUse& future, const Fits& fits) {
    const model::Cluster* cluster = cluster_in(&other);
    if (cluster == nullptr) return;
    const TargetIndex& index = index_of(state_, {other.key});
    int spare = index.staying - wanted_nodes(state_, other, *cluster);
    for (auto id = index.vacant.begin(); id != index.vacant.end() && spare > 0 && !fits(); ++id) {
      if (state_.held.contains(*id) || !taken_.insert(*id).second) continue;
      plan_.release.push_back(*id);
      free_room(future, state_.nodes.at(*id));
      --spare;
    }
  }

  /// Those that lose least first: not there yet, idle, then the ones whose job began last.
  std::vector<const model::Node*> low_priority_nodes(const std::string& site) const {
    std::vector<const model::Node*> nodes;
    for (const auto& [key, compute] : state_.computes) {
      const model::Cluster* cluster = cluster_in(&compute);
      if (compute.site != site || cluster == nullptr) continue;
      if (cluster->tier != model::Tier::LowPriority) continue;
      for (const model::NodeId& id : index_of(state_, {key}).nodes) {
        const model::Node& node = state_.nodes.at(id);
        const bool is_going =
            node.status == NodeStatus::Leaving || node.status == NodeStatus::Preempted;
        if (!is_going && !taken_.contains(id)) nodes.push_back(&node);
      }
    }
    std::ranges::stable_sort(nodes, {}, [this](const model::Node* node) {
      const auto held = state_.held.find(node->id);
      if (held == state_.held.end())
        return std::tuple(node->joined_at.has_value(), std::int64_t{0});
      const auto& job = state_.jobs.at(*held->second.begin());
      return std::tuple(true, job.placed_at->time_since_epoch().count());
    });
    // Stable, so idle ones (0) stand before any that has a job; of those the youngest goes first.
    const auto busy = std::ranges::find_if(
        nodes, [this](const model::Node* node) { return state_.held.contains(node->id); });
    std::reverse(busy, nodes.end());
    return nodes;
  }

  const State& state_;
  Plan& plan_;
  WallTime now_;
  std::map<std::string, SiteUse> use_{};
  std::set<model::NodeId> taken_{};
};

/// Its one node is started when there is work for it; there is.
void plan_machine(const State& state, const model::Compute& compute,
                  const model::Attached& attached, Plan& plan, WallTime now) {
  const model::TargetId target{compute.key};
  std::ranges::move(Placement(state, target, now).run(), std::back_inserter(plan.place));
  // A node that leaves counts until it is gone: the next one will bear the same id.
  const TargetIndex& index = index_of(state, target);
  if (!index.nodes.empty()) {
    std::ranges::copy(index.recallable, std::back_inserter(plan.recall));
    return;
  }
  plan.request.push_back({.id = {attached.machine},
                          .target = target,
                          .site = compute.site,
                          .slots = attached.slots,
                          .requested_at = now});
}

void plan_cluster(const State& state, const model::Compute& compute, Plan& plan, WallTime now) {
  const model::TargetId target{compute.key};
  const TargetIndex& index = index_of(state, target);
  if (index.vacant.empty() && index.roomy.empty()) return;
  Placement placement(state, target, now);
  std::ranges::move(placement.run(), std::back_inserter(plan.place));
  std::ranges::move(placement.short_lived(), std::back_inserter(plan.release));
}

/// An engine has a queue of its own: it gets what there is, in our order, up to a limit if its
/// compute has one.
void plan_engine(const State& state, const model::Compute& compute,
                 const model::AttachedEngine& engine, Plan& plan, WallTime now) {
  const model::TargetId target{compute.key};
  auto runs = static_cast<int>(index_of(state, target).engine_runs.size());
  for (const auto& [place, job] : index_of(state, target).line) {
    if (engine.at_once && runs >= *engine.at_once) return;
    plan.hand_over.push_back({.job = job, .at = now});
    ++runs;
  }
}

/// What follows for one compute by itself; clusters grow afterwards, all of them together.
void plan_compute(const State& state, const model::Compute& compute, Plan& plan, WallTime now) {
  const model::TargetId target{compute.key};
  if (!waits(state, target)) {
    const TargetIndex& index = index_of(state, target);
    const bool is_done = compute.is_deleting && index.nodes.empty() && index.engine_runs.empty();
    if (is_done) plan.remove.push_back(compute.key);
    return;
  }
  if (compute.is_deleting) return;
  if (cluster_in(&compute) != nullptr) plan_cluster(state, compute, plan, now);
  if (const auto* attached = std::get_if<model::Attached>(&compute.kind)) {
    plan_machine(state, compute, *attached, plan, now);
  }
  if (const auto* engine = std::get_if<model::AttachedEngine>(&compute.kind)) {
    plan_engine(state, compute, *engine, plan, now);
  }
}

/// Nodes that have had nothing to do for long enough.
class SurplusSearch {
 public:
  SurplusSearch(const State& state, const IdleSince& idle_since, TimePoint now)
      : state_(state), idle_since_(idle_since), now_(now) {}

  void add_machine(const model::Compute& compute, Duration limit) {
    if (compute.is_deleting) limit = Duration(0);
    for (const model::NodeId& id : index_of(state_, {compute.key}).vacant) {
      if (is_idle(id, limit)) found_.nodes.push_back(id);
    }
  }

  void add_cluster(const model::Compute& compute, const model::Cluster& cluster) {
    const TargetIndex& index = index_of(state_, {compute.key});
    int spare = index.staying - wanted_nodes(state_, compute, cluster);
    // What was asked for and has not come yet is not wanted any more: it need not come.
    for (auto id = index.nodes.begin(); id != index.nodes.end() && spare > 0; ++id) {
      const NodeStatus status = state_.nodes.at(*id).status;
      if (status != NodeStatus::Requested && status != NodeStatus::Preparing) continue;
      found_.nodes.push_back(*id);
      --spare;
    }
    const bool at_once = compute.is_deleting || index.staying > cluster.scale.max_nodes;
    const Duration limit = at_once ? Duration(0) : Duration(cluster.scale.idle_before_scale_down);
    for (auto id = index.vacant.begin(); id != index.vacant.end() && spare > 0; ++id) {
      if (!is_idle(*id, limit)) continue;
      found_.nodes.push_back(*id);
      --spare;
    }
  }

  Surplus take() { return std::move(found_); }

 private:
  bool is_idle(const model::NodeId& id, Duration limit) {
    if (state_.held.contains(id)) return false;
    const auto since = idle_since_.find(id);
    if (since == idle_since_.end()) return false;
    const TimePoint over = since->second + limit;
    if (over <= now_) return true;
    found_.next = std::min(found_.next.value_or(over), over);
    return false;
  }

  const State& state_;
  const IdleSince& idle_since_;
  TimePoint now_;
  Surplus found_{};
};

}  // namespace

int wanted_nodes(const State& state, const model::Compute& compute, const model::Cluster& cluster) {
  const TargetIndex& index = index_of(state, {compute.key});
  if (compute.is_deleting) return index.busy;
  const std::int64_t wanted = index.busy + index.wanted_nodes;
  return static_cast<int>(
      std::clamp<std::int64_t>(wanted, cluster.scale.min_nodes, cluster.scale.max_nodes));
}

Plan plan(const State& state, WallTime now) {
  Plan plan;
  plan_compute(state, state.settings.local, plan, now);
  for (const auto& [key, compute] : state.computes) plan_compute(state, compute, plan, now);
  Growth(state, plan, now).run();
  return plan;
}

Surplus surplus(const State& state, const IdleSince& idle_since, Duration machine_idle,
                TimePoint now) {
  SurplusSearch search(state, idle_since, now);
  search.add_machine(state.settings.local, machine_idle);
  for (const auto& [key, compute] : state.computes) {
    if (const model::Cluster* cluster = cluster_in(&compute)) {
      search.add_cluster(compute, *cluster);
    } else {
      search.add_machine(compute, machine_idle);
    }
  }
  return search.take();
}

}  // namespace berth::core
