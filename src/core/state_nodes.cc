// SPDX-License-Identifier: Apache-2.0
// What events do to nodes, computes and sites.
#include <algorithm>

#include "core/apply.h"
#include "core/index.h"
#include "model/compute_kind.h"

namespace berth::core {

using model::NodeStatus;

namespace {

/// Changes a node between leaving the indexes and entering them again.
template <typename Change>
Touched change_node(State& state, model::Node& node, const Change& change) {
  unindex(state, node);
  change(node);
  index(state, node);
  return touching<model::Node>(node.id);
}

/// Of the built-in one nothing changes.
model::Compute* find(State& state, const model::ComputeKey& key) {
  const auto found = state.computes.find(key);
  return found == state.computes.end() ? nullptr : &found->second;
}

bool shares_nodes(const State& state, const model::Node& node) {
  return model::traits_of(compute_of(state, node.target)).shares_nodes;
}

/// The number of nodes is on its way to another, or has arrived there.
void note_allocation(State& state, const model::TargetId& target, WallTime at, Touched& touched) {
  model::Compute* compute = find(state, target.compute);
  model::Cluster* cluster = cluster_in(compute);
  if (cluster == nullptr) return;
  cluster->allocation_changed_at = at;
  touched.of<model::Compute>().insert(compute->key);
}

model::Usage usage_of(const model::Compute& compute, const model::Cluster& cluster,
                      const model::Node& node, WallTime gone_at) {
  return {.workspace = compute.key.workspace,
          .compute = compute.name,
          .node = node.id.text,
          .size = cluster.size,
          .tier = cluster.tier,
          .price_per_hour = node.price_per_hour,
          .began_at = *node.joined_at,
          .ended_at = gone_at};
}

}  // namespace

Touched on(State& state, const SiteMade& event) {
  state.sites[event.site.name] = event.site;
  return touching<model::Site>(event.site.name);
}

Touched on(State& state, const SiteRemoved& event) {
  if (state.sites.erase(event.site) == 0) return {};
  return touching<model::Site>(event.site);
}

Touched on(State& state, const ComputeMade& event) {
  state.computes[event.compute.key] = event.compute;
  recount_demand(state, {event.compute.key});
  return touching<model::Compute>(event.compute.key);
}

Touched on(State& state, const ComputeDeleteRequested& event) {
  const auto found = state.computes.find(event.compute);
  if (found == state.computes.end() || found->second.is_deleting) return {};
  found->second.is_deleting = true;
  found->second.modified_at = event.at;
  return touching<model::Compute>(event.compute);
}

Touched on(State& state, const ComputeGone& event) {
  if (state.computes.erase(event.compute) == 0) return {};
  recount_demand(state, {event.compute});
  return touching<model::Compute>(event.compute);
}

Touched on(State& state, const NodeRequested& event) {
  const auto [place, is_new] = state.nodes.try_emplace(event.node.id, event.node);
  if (!is_new) return {};
  place->second.status = NodeStatus::Requested;
  index(state, place->second);
  Touched touched = touching<model::Node>(event.node.id);
  note_allocation(state, event.node.target, event.node.requested_at, touched);
  return touched;
}

Touched on(State& state, const NodeStarted& event) {
  model::Node* node = find(state, event.node);
  if (node == nullptr) return {};
  const bool is_news = node->status == NodeStatus::Requested || node->note != event.note;
  if (!is_news) return {};
  return change_node(state, *node, [&](model::Node& changed) {
    if (changed.status == NodeStatus::Requested) changed.status = NodeStatus::Preparing;
    changed.note = event.note;
  });
}

Touched on(State& state, const NodeStartFailed& event) {
  model::Node* node = find(state, event.node);
  if (node == nullptr || node->joined_at) return {};
  Touched touched = change_node(state, *node, [&](model::Node& changed) {
    if (changed.status == NodeStatus::Preparing) changed.status = NodeStatus::Requested;
    changed.start_failures += 1;
    changed.start_error = event.error;
  });
  model::Compute* compute = find(state, node->target.compute);
  if (compute != nullptr && compute->start_error != event.error) {
    compute->start_error = event.error;
    touched.of<model::Compute>().insert(compute->key);
  }
  return touched;
}

Touched on(State& state, const NodeJoined& event) {
  model::Node* node = find(state, event.node);
  if (node == nullptr) return {};
  Touched touched = change_node(state, *node, [&](model::Node& changed) {
    // A node that was told to leave and connects again has not heard it yet; it leaves all the
    // same.
    const bool is_going =
        changed.status == NodeStatus::Leaving || changed.status == NodeStatus::Preempted;
    if (!is_going) changed.status = NodeStatus::Ready;
    changed.slots =
        shares_nodes(state, changed) ? event.slots : 1;  // Whatever its agent would take.
    changed.ahead = 0;
    changed.work_root = event.work_root;
    changed.address = event.address;
    changed.ends_at = event.ends_at;
    changed.start_failures = 0;
    changed.start_error.clear();
    changed.note.clear();
    changed.lease_until.reset();
    changed.lease_until_since_boot.reset();
    changed.lease_boot.clear();
  });
  model::Compute* compute = find(state, node->target.compute);
  if (compute != nullptr && !compute->start_error.empty()) {
    compute->start_error.clear();
    touched.of<model::Compute>().insert(compute->key);
  }
  if (!node->joined_at) {
    node->joined_at = event.at;
    note_allocation(state, node->target, event.at, touched);
  }
  return touched;
}

Touched on(State& state, const NodeWorksAhead& event) {
  model::Node* node = find(state, event.node);
  if (node == nullptr) return {};
  // An agent that asks for more has several slots, and would run what is to wait beside the other.
  const bool is_taken_at_its_word = shares_nodes(state, *node) || event.attempts == 1;
  const int ahead = is_taken_at_its_word ? event.attempts : 0;
  if (node->ahead == ahead) return {};
  return change_node(state, *node, [&](model::Node& changed) { changed.ahead = ahead; });
}

Touched on(State& state, const NodeDetached& event) {
  model::Node* node = find(state, event.node);
  if (node == nullptr) return {};
  const bool may_be_recalled = node->status == NodeStatus::Leaving && !node->is_dismissed;
  if (node->status != NodeStatus::Ready && !may_be_recalled) return {};
  return change_node(state, *node, [&](model::Node& changed) {
    if (may_be_recalled) {
      changed.is_dismissed = true;  // Nobody can be called back who does not hear.
    } else {
      changed.status = NodeStatus::Detached;
    }
  });
}

Touched on(State& state, const NodeLeaseExtended& event) {
  model::Node* node = find(state, event.node);
  if (node == nullptr) return {};
  node->lease_until = event.until;
  node->lease_until_since_boot = event.until_since_boot;
  node->lease_boot = event.boot;
  return touching<model::Node>(event.node);
}

Touched on(State& state, const NodeToldToLeave& event) {
  model::Node* node = find(state, event.node);
  const bool is_going = node == nullptr || node->status == NodeStatus::Leaving ||
                        node->status == NodeStatus::Preempted;
  if (is_going) return {};
  return change_node(state, *node, [](model::Node& changed) {
    // One that is not connected cannot be recalled.
    changed.is_dismissed = changed.status != NodeStatus::Ready;
    changed.status = NodeStatus::Leaving;
  });
}

Touched on(State& state, const NodeRecalled& event) {
  model::Node* node = find(state, event.node);
  if (node == nullptr || node->status != NodeStatus::Leaving || node->is_dismissed) return {};
  return change_node(state, *node,
                     [](model::Node& changed) { changed.status = NodeStatus::Ready; });
}

Touched on(State& state, const NodeDismissed& event) {
  model::Node* node = find(state, event.node);
  const bool is_going = node != nullptr && (node->status == NodeStatus::Leaving ||
                                            node->status == NodeStatus::Preempted);
  if (!is_going || node->is_dismissed) return {};
  return change_node(state, *node, [](model::Node& changed) { changed.is_dismissed = true; });
}

Touched on(State& state, const NodePreempted& event) {
  model::Node* node = find(state, event.node);
  if (node == nullptr || node->status == NodeStatus::Preempted) return {};
  return change_node(state, *node,
                     [](model::Node& changed) { changed.status = NodeStatus::Preempted; });
}

Touched on(State& state, const NodeGone& event) {
  const model::Node* found = find(state, event.node);
  if (found == nullptr) return {};
  const model::Node node = *found;
  Touched touched = touching<model::Node>(event.node);
  std::set<model::JobKey> held;
  if (const auto jobs = state.held.find(event.node); jobs != state.held.end()) held = jobs->second;
  const model::Outcome lost{.ending = model::Ending::Lost, .message = "the node is gone"};
  for (const model::JobKey& key : held) {
    end_member(state, state.jobs.at(key), event.node, lost, event.at, touched);
  }
  // What a job whose other members still go on holds of it is only its name.
  unindex(state, node);
  state.nodes.erase(event.node);
  const model::Compute* compute = compute_of(state, node.target);
  if (const model::Cluster* cluster = cluster_in(compute); cluster && node.joined_at) {
    touched.usage.push_back(usage_of(*compute, *cluster, node, event.at));
  }
  note_allocation(state, node.target, event.at, touched);
  return touched;
}

model::Node* find(State& state, const model::NodeId& id) {
  const auto found = state.nodes.find(id);
  return found == state.nodes.end() ? nullptr : &found->second;
}

const model::Compute* compute_of(const State& state, const model::TargetId& target) {
  if (target.compute == state.settings.local.key) return &state.settings.local;
  const auto found = state.computes.find(target.compute);
  return found == state.computes.end() ? nullptr : &found->second;
}

bool is_machine(const State& state, const model::NodeId& node) {
  const auto bears_its_name = [&](const model::Compute& compute) {
    const auto* attached = std::get_if<model::Attached>(&compute.kind);
    return attached != nullptr && attached->machine == node.text;
  };
  return bears_its_name(state.settings.local) ||
         std::ranges::any_of(state.computes,
                             [&](const auto& entry) { return bears_its_name(entry.second); });
}

const model::Cluster* cluster_of(const State& state, const model::TargetId& target) {
  return cluster_in(compute_of(state, target));
}

const model::VmSize* size_of(const State& state, const model::Cluster& cluster) {
  return model::find_size(state.settings.sizes, cluster.size);
}

}  // namespace berth::core
