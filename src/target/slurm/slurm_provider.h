// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "io/process/command.h"
#include "target/node_provider.h"
#include "target/slurm/pilot.h"
#include "target/slurm/queue.h"

namespace berth::target::slurm {

/// Nodes as jobs of a Slurm: each is a pilot that becomes `berth node` in remote mode. It is found
/// again, by anybody who has the same owner, by the name of its job. Keeps nothing itself.
///
/// stop() returns when Slurm has taken the request; the node is there until observe() says
/// otherwise, since Slurm lets it end in good order first (its KillWait).
class SlurmProvider final : public NodeProvider {
 public:
  /// `executable` is where berth is on the nodes; if it is not there, their PATH is searched.
  /// The settings have passed check_settings().
  SlurmProvider(model::SlurmSettings settings, Owner owner, std::string executable,
                Duration command_limit = std::chrono::seconds(30));

  Status start(const NodeSpec& spec) override;
  Result<std::vector<ObservedNode>> observe() override;
  Status stop(const model::NodeId& id) override;

 private:
  Result<io::CommandOutput> run(const std::string& program, std::vector<std::string> arguments,
                                std::string input = {}) const;
  Result<std::vector<QueuedJob>> list_jobs(std::vector<std::string> filter) const;
  Result<bool> is_there(const model::NodeId& id) const;
  std::string tag(const model::NodeId& id) const { return tag_prefix(owner_) + id.text; }

  model::SlurmSettings settings_;
  Owner owner_;
  std::string executable_;
  Duration command_limit_;
};

}  // namespace berth::target::slurm
