// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "model/node.h"

namespace berth::model {

/// A node's state in Azure's words.
enum class NodeState { Idle, Running, Preparing, Unusable, Leaving, Preempted };
BOOST_DESCRIBE_ENUM(NodeState, Idle, Running, Preparing, Unusable, Leaving, Preempted)

struct NodeView {
  NodeId id{};
  NodeState state = NodeState::Idle;
  std::string address{};
  std::string job{};  ///< The one it works on.
};

/// A cluster as its users see it, counted from the same state that decisions are made from.
struct ClusterView {
  int current_nodes = 0;  ///< Those that are there: idle, running or leaving, and those detached.
  int target_nodes = 0;   ///< How many it is to have now.
  bool is_steady = true;
  int idle = 0;
  int running = 0;
  int preparing = 0;
  int unusable = 0;
  int leaving = 0;
  int preempted = 0;
  std::vector<NodeView> nodes{};
  std::vector<std::string> errors{};
};

/// Azure's word for it: "idle".
std::string word_of(NodeState state);

}  // namespace berth::model
