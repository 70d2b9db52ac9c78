// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/id.h"
#include "model/target_id.h"

namespace berth::model {

using NodeId = Id<struct NodeTag>;

/// docs/states.md has the diagram.
enum class NodeStatus {
  Requested,  ///< Recorded; the provider may or may not have started it yet.
  Preparing,  ///< The provider has taken it; its agent has not dialled in yet.
  Ready,      ///< Its agent is connected.
  Detached,   ///< Its agent was connected and is not now; its work may still go on.
  Leaving,    ///< To go; takes no more work.
  Preempted,  ///< Taken for somebody else; goes when its work has been stopped.
};
BOOST_DESCRIBE_ENUM(NodeStatus, Requested, Preparing, Ready, Detached, Leaving, Preempted)

/// One machine-like slot of a target, with one `berth node` agent on it.
struct Node {
  NodeId id{};
  std::int64_t sequence = 0;  ///< Over the whole server; never used again.
  TargetId target{};          ///< core::target_of() of the jobs it takes.
  std::string site = "local";
  NodeStatus status = NodeStatus::Requested;
  int slots = 1;  ///< How many jobs it takes at once; a cluster's node takes one.
  int ahead = 0;  ///< Attempts it takes beyond its slots: they wait there for their turn.
  int cores = 0;  ///< What one job may use; 0: no limit.
  std::int64_t memory_mib = 0;
  std::vector<int> gpus{};  ///< Devices of the machine that are this node's alone.
  double price_per_hour = 0;
  std::string work_root{};    ///< Absolute; the agent says it when it joins.
  std::string address{};      ///< Where other nodes of its cluster reach it; the agent says it.
  bool is_dismissed = false;  ///< Leaving, and told so: no way back.
  int start_failures = 0;     ///< In a row.
  std::string start_error{};
  std::string note{};  ///< What its site says of it: why it is not there yet.
  WallTime requested_at{};
  std::optional<WallTime> joined_at{};    ///< For the first time.
  std::optional<WallTime> ends_at{};      ///< When its site takes it back.
  std::optional<WallTime> lease_until{};  ///< A lease that outlasts this server's good-bye.
  /// The same by a clock that does not jump, which counts only as long as this machine is not
  /// started anew: since_boot() then, and which start that was.
  std::optional<Duration> lease_until_since_boot{};
  std::string lease_boot{};
};
BOOST_DESCRIBE_STRUCT(Node, (),
                      (id, sequence, target, site, status, slots, ahead, cores, memory_mib, gpus,
                       price_per_hour, work_root, address, is_dismissed, start_failures,
                       start_error, note, requested_at, joined_at, ends_at, lease_until,
                       lease_until_since_boot, lease_boot))

}  // namespace berth::model
