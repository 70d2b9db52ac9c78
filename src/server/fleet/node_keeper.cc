// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/node_keeper.h"

#include <algorithm>

#include "base/back_off.h"
#include "base/log.h"
#include "model/site_kind.h"

namespace berth::server {

using model::Node;
using model::NodeId;
using model::NodeStatus;
using target::Liveness;
using namespace std::chrono_literals;

namespace {

constexpr BackOff kBackOff{.first = 1s, .longest = 60s};
constexpr Duration kTimeToConnect = 2min;
constexpr Duration kTimeToGo = 15s;
/// Messages under way, and the moment between a lapse and the death of the last process.
constexpr Duration kLeaseMargin = 2s;
/// Also a site where all seems well is looked at: a start that was said to have failed may have
/// had its effect late, an end that was said to have been may not.
constexpr Duration kPauseBetweenSweeps = 60s;

}  // namespace

void NodeKeeper::attach(Ledger& ledger, NodesDesk& nodes, std::string url, std::string ca_file) {
  ledger_ = &ledger;
  nodes_ = &nodes;
  url_ = std::move(url);
  ca_file_ = std::move(ca_file);
}

const model::Site* NodeKeeper::site_of(const Node& node) const {
  const auto& sites = ledger_->state().sites;
  const auto found = sites.find(node.site);
  return found == sites.end() ? nullptr : &found->second;
}

void NodeKeeper::forget(const NodeId& node) {
  starts_.erase(node);
  lease_until_.erase(node);
  preparing_since_.erase(node);
  overdue_at_.erase(node);
}

// ---- Leases ------------------------------------------------------------------------------------

bool NodeKeeper::has_lease(const Node& node) const {
  const model::Site* site = site_of(node);
  return site != nullptr && model::traits_of(*site).has_lease;
}

std::optional<Duration> NodeKeeper::renew(const NodeId& id) {
  const auto node = ledger_->state().nodes.find(id);
  if (node == ledger_->state().nodes.end() || !has_lease(node->second)) return std::nullopt;
  lease_until_[id] = parts_.clock.now().mono + parts_.lease + kLeaseMargin;
  return parts_.lease;
}

core::NodeLeaseExtended NodeKeeper::lease_while_stopped(const NodeId& node) const {
  const Duration lease = parts_.lease_while_stopped;
  core::NodeLeaseExtended extended{.node = node, .until = parts_.clock.now().wall + lease};
  if (!parts_.boot_clock.boot.empty()) {
    extended.boot = parts_.boot_clock.boot;
    extended.until_since_boot = parts_.boot_clock.since_boot() + lease;
  }
  return extended;
}

/// The wall clock is asked only when the machine was started anew since; it may have jumped, but
/// what is left of a lease is never more than was given.
Duration NodeKeeper::left_of_good_bye(const Node& node) const {
  if (!node.lease_until) return Duration(0);
  const BootClock& clock = parts_.boot_clock;
  const bool is_same_boot = !clock.boot.empty() && node.lease_boot == clock.boot;
  const Duration left = is_same_boot && node.lease_until_since_boot
                            ? *node.lease_until_since_boot - clock.since_boot()
                            : *node.lease_until - parts_.clock.now().wall;
  return std::min(left, parts_.lease_while_stopped);
}

/// A node we have not heard of since we started may have been given its lease just before that.
bool NodeKeeper::has_lapsed(const Node& node) {
  if (!has_lease(node)) return true;
  const TimePoint now = parts_.clock.now().mono;
  const auto [until, is_new] = lease_until_.try_emplace(node.id, now + parts_.lease + kLeaseMargin);
  if (is_new) until->second = std::max(until->second, now + left_of_good_bye(node) + kLeaseMargin);
  return now >= until->second;
}

// ---- Starting ----------------------------------------------------------------------------------

void NodeKeeper::start(const Node& node) {
  const model::Site* site = site_of(node);
  if (site == nullptr) {
    return nodes_->start_failed(node.id, fmt::format("there is no site '{}'", node.site));
  }
  const auto entry = parts_.providers.of(*site);
  if (!entry) return nodes_->start_failed(node.id, entry.error().message);
  Trouble& trouble = starts_[node.id];
  if (trouble.is_starting) return;
  trouble.is_starting = true;
  const target::NodeSpec spec{.id = node.id,
                              .token = parts_.signer.node_token(node.id),
                              .slots = node.slots,
                              .cores = node.cores,
                              .memory_mib = node.memory_mib,
                              .gpus = static_cast<int>(node.gpus.size()),
                              .server_url = site->server_url.empty() ? url_ : site->server_url,
                              .ca_file = ca_file_};
  entry->thread.run([this, spec, provider = entry->provider]() -> io::Offload::Continuation {
    const Status outcome = provider->start(spec);
    return [this, id = spec.id, outcome] { started(id, outcome); };
  });
}

void NodeKeeper::started(const NodeId& id, const Status& outcome) {
  const auto node = ledger_->state().nodes.find(id);
  if (node == ledger_->state().nodes.end()) {
    starts_.erase(id);
    return;
  }
  Trouble& trouble = starts_[id];
  trouble.is_starting = false;
  if (outcome) return nodes_->started(id, "");
  log::error("node '{}' could not be started: {}", id.text, outcome.error().message);
  trouble.next_try =
      parts_.clock.now().mono + kBackOff.pause_after(node->second.start_failures + 1);
  nodes_->start_failed(id, outcome.error().message);
}

void NodeKeeper::start_if_due(const Node& node) {
  const auto trouble = starts_.find(node.id);
  if (trouble != starts_.end() && trouble->second.next_try > parts_.clock.now().mono) return;
  start(node);
}

// ---- Looking -----------------------------------------------------------------------------------

void NodeKeeper::reconcile() {
  std::set<std::string> sites;
  const TimePoint now = parts_.clock.now().mono;
  for (const auto& [name, site] : ledger_->state().sites) {
    const auto sweep = sweep_at_.find(name);
    if (sweep == sweep_at_.end() || now >= sweep->second) sites.insert(name);
  }
  std::vector<NodeId> overdue;
  for (const auto& [id, node] : ledger_->state().nodes) {
    if (!parts_.is_connected(id)) {
      sites.insert(node.site);
    } else if (const auto at = overdue_at_.find(id); at != overdue_at_.end() && now >= at->second) {
      if (!ledger_->state().held.contains(id)) overdue.push_back(id);
    }
  }
  for (const NodeId& id : overdue) retire(id, Then::LookAgain);
  for (const std::string& name : sites) {
    const auto site = ledger_->state().sites.find(name);
    if (site != ledger_->state().sites.end()) observe(site->second);
  }
}

void NodeKeeper::observe(const model::Site& site) {
  const TimePoint now = parts_.clock.now().mono;
  if (looking_.contains(site.name) || now < next_look_[site.name]) return;
  const auto entry = parts_.providers.of(site);
  if (!entry) return log::warning("site '{}': {}", site.name, entry.error().message);
  next_look_[site.name] = now + model::traits_of(site).look_every;
  looking_.insert(site.name);
  entry->thread.run(
      [this, name = site.name, provider = entry->provider]() -> io::Offload::Continuation {
        const Result<std::vector<target::ObservedNode>> seen = provider->observe();
        return [this, name, seen] {
          looking_.erase(name);
          if (seen) return observed(name, *seen);
          log::warning("nodes of site '{}' could not be observed: {}", name, seen.error().message);
        };
      });
}

void NodeKeeper::observed(const std::string& site, const std::vector<target::ObservedNode>& seen) {
  sweep_at_[site] = parts_.clock.now().mono + kPauseBetweenSweeps;
  end_strays(site, seen);
  std::map<NodeId, target::ObservedNode> by_id;
  for (const target::ObservedNode& node : seen) by_id[node.id] = node;
  std::vector<NodeId> absent;
  for (const auto& [id, node] : ledger_->state().nodes) {
    if (node.site == site && !parts_.is_connected(id)) absent.push_back(id);
  }
  for (const NodeId& id : absent) {
    const auto node = ledger_->state().nodes.find(id);
    if (node == ledger_->state().nodes.end()) continue;
    const auto found = by_id.find(id);
    settle(node->second,
           found == by_id.end() ? target::ObservedNode{id, Liveness::Gone, ""} : found->second);
  }
}

void NodeKeeper::settle(const Node& node, const target::ObservedNode& seen) {
  // What was seen may be older than a start that is under way.
  if (const auto start = starts_.find(node.id); start != starts_.end() && start->second.is_starting)
    return;
  const bool is_gone = seen.liveness == Liveness::Gone;
  switch (node.status) {
    case NodeStatus::Requested:
      return is_gone ? start_if_due(node) : nodes_->started(node.id, seen.note);
    case NodeStatus::Preparing: {
      const TimePoint now = parts_.clock.now().mono;
      const TimePoint since = preparing_since_.try_emplace(node.id, now).first->second;
      if (seen.liveness == Liveness::Pending) preparing_since_.erase(node.id);
      const bool is_overdue = seen.liveness == Liveness::Running && now - since >= kTimeToConnect;
      if (!is_gone && !is_overdue) return nodes_->started(node.id, seen.note);
      const std::string why = is_gone ? fmt::format("it ended before it connected{}",
                                                    seen.note.empty() ? "" : " (" + seen.note + ")")
                                      : "it runs but does not connect";
      starts_[node.id].next_try = now + kBackOff.pause_after(node.start_failures + 1);
      preparing_since_.erase(node.id);
      if (is_overdue) retire(node.id, Then::LookAgain);
      return nodes_->start_failed(node.id, fmt::format("node '{}': {}", node.id.text, why));
    }
    case NodeStatus::Ready:
    case NodeStatus::Detached: return settle_detached(node, seen.liveness);
    case NodeStatus::Leaving:
    case NodeStatus::Preempted: return settle_going(node, seen.liveness);
  }
}

/// Nobody knows, until its lease has lapsed: then its work is over, wherever it was.
void NodeKeeper::settle_detached(const Node& node, Liveness liveness) {
  const bool has_work = ledger_->state().held.contains(node.id);
  if (has_lease(node)) {
    const bool is_settled = has_lapsed(node) || (liveness == Liveness::Gone && !has_work);
    if (is_settled) retire(node.id, Then::Gone);
  } else if (liveness == Liveness::Gone) {
    // On this machine its successor takes up what the old one left in its directory.
    has_work ? start_if_due(node) : retire(node.id, Then::Gone);
  }
}

/// It was told to go and has hung up. On this machine ending it means to wait for its end;
/// elsewhere a site may lose patience with it before its files are gone.
bool NodeKeeper::may_be_tidying_up(const Node& node) const {
  const auto overdue = overdue_at_.find(node.id);
  return has_lease(node) && overdue != overdue_at_.end() &&
         parts_.clock.now().mono < overdue->second;
}

/// Ended as often as it takes; it counts until its site has seen it go.
void NodeKeeper::settle_going(const Node& node, Liveness liveness) {
  const bool has_work = ledger_->state().held.contains(node.id);
  if (has_work) return settle_detached(node, liveness);
  if (liveness != Liveness::Gone && may_be_tidying_up(node)) return;
  retire(node.id, liveness == Liveness::Gone ? Then::Gone : Then::LookAgain);
}

void NodeKeeper::dismissed(const NodeId& node) {
  if (!parts_.is_connected(node)) return;  // It does not hear, and goes only when it is ended.
  overdue_at_[node] = parts_.clock.now().mono + kTimeToGo;
}

void NodeKeeper::withdrew(const NodeId& node) {
  overdue_at_.try_emplace(node, parts_.clock.now().mono + kTimeToGo);
}

/// Ends it and removes what it leaves.
void NodeKeeper::retire(const NodeId& id, Then then) {
  const Node& node = ledger_->state().nodes.at(id);
  const model::Site* site = site_of(node);
  const auto entry =
      site == nullptr ? fail(Code::NotFound, "its site is gone") : parts_.providers.of(*site);
  if (!entry) return nodes_->gone(id);
  if (!retiring_.insert(id).second) return;
  const auto stop = [this, id, then, provider = entry->provider]() -> io::Offload::Continuation {
    const Status stopped = provider->stop(id);
    return [this, id, then, stopped] {
      retiring_.erase(id);
      if (!stopped) {
        return log::warning("node '{}' could not be ended: {}", id.text, stopped.error().message);
      }
      if (then == Then::LookAgain) return;
      forget(id);
      nodes_->gone(id);
    };
  };
  // That it holds nothing may not be on disk yet, and with the node the only other record goes.
  ledger_->when_durable([this, id, stop, &thread = entry->thread](const Status& durable) {
    if (durable) return thread.run(stop);
    retiring_.erase(id);
  });
}

/// Nodes that bear our mark and that nobody knows of: the end of an earlier one was not seen.
void NodeKeeper::end_strays(const std::string& name,
                            const std::vector<target::ObservedNode>& seen) {
  const auto site = ledger_->state().sites.find(name);
  if (site == ledger_->state().sites.end()) return;
  const auto entry = parts_.providers.of(site->second);
  if (!entry) return;
  for (const target::ObservedNode& node : seen) {
    const core::State& state = ledger_->state();
    // The node of a machine bears the same name every time: the next may be asked for already.
    const bool is_ours = state.nodes.contains(node.id) || core::is_machine(state, node.id);
    if (is_ours || !retiring_.insert(node.id).second) continue;
    log::info("node '{}' of site '{}' is nobody's any more, and is ended", node.id.text, name);
    entry->thread.run(
        [this, id = node.id, provider = entry->provider]() -> io::Offload::Continuation {
          (void)provider->stop(id);
          return [this, id] { retiring_.erase(id); };
        });
  }
}

}  // namespace berth::server
