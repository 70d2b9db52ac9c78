// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/node.h"

namespace berth::target {

/// What a node needs to dial in.
struct NodeSpec {
  model::NodeId id{};
  std::string token{};  ///< Secret: handed over in a file or descriptor, never in argv or env.
  int slots = 1;
  int cores = 0;  ///< What the node is to offer, where the site can be asked for it; 0: unsaid.
  std::int64_t memory_mib = 0;
  int gpus = 0;
  std::string server_url{};  ///< https://…: for nodes that do not see the state directory.
  std::string ca_file{};     ///< The authority that vouches for it; a path on the server's machine.
};

enum class Liveness { Pending, Running, Gone };

struct ObservedNode {
  model::NodeId id{};
  Liveness liveness = Liveness::Pending;
  std::string note{};  ///< For people: why it is pending or gone, where the site says so.
};

/// Somewhere nodes can be started: this machine, Slurm, a host over SSH.
///
/// Calls may block for seconds; they are made from a worker thread, never two at once on one
/// object, so an implementation needs no locks. Every implementation passes tests/contract; that
/// file is the full definition.
class NodeProvider {
 public:
  virtual ~NodeProvider() = default;

  /// Starts the node. Repeating a call with the same id while it is there starts nothing new, also
  /// when the first call failed after it had its effect, and also from another process.
  virtual Status start(const NodeSpec& spec) = 0;
  /// Everything of ours that is there or was found gone, in one query. Unknown is not Gone: an
  /// observation that fails is an error.
  virtual Result<std::vector<ObservedNode>> observe() = 0;
  /// Ends the node. Succeeds when it is already gone or was never known.
  virtual Status stop(const model::NodeId& id) = 0;
};

}  // namespace berth::target
