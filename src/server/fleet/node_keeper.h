// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "server/fleet/providers.h"
#include "server/keys/signer.h"
#include "server/plane/ledger.h"
#include "server/plane/nodes_desk.h"

namespace berth::server {

/// A clock that does not jump and that the next server can go on with, unless the machine is
/// started anew in between.
struct BootClock {
  std::string boot{};  ///< Which start of the machine; empty: nobody knows.
  std::function<Duration()> since_boot;
};

struct NodeKeeperParts {
  Providers& providers;
  const Signer& signer;
  const Clock& clock;
  Duration lease = std::chrono::seconds(10);  ///< Of nodes that are not of this machine.
  /// A server that was stopped in good order may be away for so long before work elsewhere is given
  /// up.
  Duration lease_while_stopped = std::chrono::hours(1);
  BootClock boot_clock{};
  std::function<bool(const model::NodeId&)> is_connected;
};

/// Sees to it that the nodes that should be there are, and those that should not are not: starts
/// them, observes the ones that are not connected, ends them. Level-triggered: whatever a call to a
/// provider did or did not do, the next observation tells. Loop thread only.
class NodeKeeper {
 public:
  explicit NodeKeeper(NodeKeeperParts parts) : parts_(std::move(parts)) {}

  /// Before anything else; `url` is where nodes of other machines reach us.
  void attach(Ledger& ledger, NodesDesk& nodes, std::string url, std::string ca_file);

  void start(const model::Node& node);
  /// Compares the nodes that are not connected with what their sites see.
  void reconcile();
  /// A node that was told to leave is ended when it does not go by itself; one that is not
  /// connected was not told, and is ended at once.
  void dismissed(const model::NodeId& node);
  /// It goes by itself. When it holds nothing any more and is still here, it is ended.
  void withdrew(const model::NodeId& node);

  /// The lease of a node that asks now; nullopt: none is needed, it shares our kernel.
  std::optional<Duration> renew(const model::NodeId& node);
  bool has_lease(const model::Node& node) const;
  /// What is written down before a node is told that it may go on while there is no server.
  core::NodeLeaseExtended lease_while_stopped(const model::NodeId& node) const;
  /// It has not asked for so long that its work is over.
  bool has_lapsed(const model::Node& node);
  void forget(const model::NodeId& node);

 private:
  struct Trouble {
    TimePoint next_try{};
    bool is_starting = false;
  };

  const model::Site* site_of(const model::Node& node) const;
  void started(const model::NodeId& node, const Status& outcome);
  void observe(const model::Site& site);
  void observed(const std::string& site, const std::vector<target::ObservedNode>& seen);
  void settle(const model::Node& node, const target::ObservedNode& seen);
  void settle_going(const model::Node& node, target::Liveness liveness);
  void settle_detached(const model::Node& node, target::Liveness liveness);
  void start_if_due(const model::Node& node);
  enum class Then { LookAgain, Gone };
  void retire(const model::NodeId& node, Then then);
  void end_strays(const std::string& site, const std::vector<target::ObservedNode>& seen);
  Duration left_of_good_bye(const model::Node& node) const;
  bool may_be_tidying_up(const model::Node& node) const;

  NodeKeeperParts parts_;
  Ledger* ledger_ = nullptr;
  NodesDesk* nodes_ = nullptr;
  std::string url_;
  std::string ca_file_;
  std::map<model::NodeId, Trouble> starts_;
  std::map<model::NodeId, TimePoint> lease_until_;      ///< No node works on its own after this.
  std::map<model::NodeId, TimePoint> preparing_since_;  ///< Seen running, and not here yet.
  std::map<model::NodeId, TimePoint> overdue_at_;       ///< Told to go; then it is ended.
  std::set<model::NodeId> retiring_;
  std::map<std::string, TimePoint> next_look_;
  std::set<std::string> looking_;
  std::map<std::string, TimePoint> sweep_at_;  ///< Then a site is looked at in any case.
};

}  // namespace berth::server
