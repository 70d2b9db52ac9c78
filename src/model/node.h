// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <string>

#include "base/clock.h"
#include "base/id.h"

namespace berth::model {

using NodeId = Id<struct NodeTag>;

/// docs/states.md has the diagram.
enum class NodeStatus {
  Requested,  ///< Recorded; the provider may or may not have started it yet.
  Ready,      ///< Its agent is connected.
  Detached,   ///< Its agent was connected and is not now; its work may still go on.
  Leaving,    ///< Told to go; takes no more work.
};
BOOST_DESCRIBE_ENUM(NodeStatus, Requested, Ready, Detached, Leaving)

/// One machine-like slot of a target, with one `berth node` agent on it.
struct Node {
  NodeId id{};
  std::string target = "local";
  NodeStatus status = NodeStatus::Requested;
  int slots = 1;            ///< How many jobs it takes at once.
  std::string work_root{};  ///< Absolute; the agent says it when it joins.
  WallTime requested_at{};
};
BOOST_DESCRIBE_STRUCT(Node, (), (id, target, status, slots, work_root, requested_at))

}  // namespace berth::model
