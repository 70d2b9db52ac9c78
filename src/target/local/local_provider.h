// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "target/node_provider.h"

namespace berth::target::local {

/// Where things of one local node lie. The agent finds its own by the same names.
struct NodePaths {
  NodePaths(const std::string& home, const model::NodeId& id);

  std::string directory;
  std::string token;
  std::string log;
  std::string identity;  ///< Of the process that was spawned, by the provider.
  std::string agent;     ///< Of the agent that holds the lock, by itself; it is the truth.
  std::string work_root;
};

/// Nodes as processes of this machine: `berth node`, in a session of its own so that it outlives
/// the server. Each has <home>/nodes/<id>/ with its token (0600), its log and its process identity,
/// by which a restarted server finds it again. An agent that dies leaves its work to the next one
/// of that id; ending the node ends whatever is left of it, and removes its directory.
class LocalProvider final : public NodeProvider {
 public:
  /// `home` is the state directory: the agent reads the server's address there, also after a
  /// restart. `work_directory` is where attempts live instead of there, one folder for each node.
  LocalProvider(std::string executable, std::string home, std::string work_directory = {});

  Status start(const NodeSpec& spec) override;
  Result<std::vector<ObservedNode>> observe() override;
  Status stop(const model::NodeId& id) override;

 private:
  NodePaths paths_of(const model::NodeId& id) const;
  Status sweep(const NodePaths& paths) const;

  std::string executable_;
  std::string home_;
  std::string work_directory_;
};

}  // namespace berth::target::local
