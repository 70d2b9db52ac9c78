// SPDX-License-Identifier: Apache-2.0
// The Slurm job that is a node. Pure: what is submitted, as text.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/site.h"
#include "target/node_provider.h"

namespace berth::target::slurm {

/// Whose nodes these are. Both are resource names.
struct Owner {
  std::string installation{};  ///< Of one state directory; two on one Slurm do not see each other.
  std::string site{};
};

/// "berth:<installation>:<site>:". Jobs whose name begins so are ours, and the rest is the node.
std::string tag_prefix(const Owner& owner);

/// Where the pilot's output goes, on the node: in a directory that every machine has, since Slurm
/// opens it before anything of ours could make one. The agent removes it when it ends in good
/// order.
std::string pilot_log(const std::string& user, const std::string& job_id);

/// sbatch's arguments. Ours come behind the operator's: of two that disagree sbatch takes the last.
std::vector<std::string> submit_arguments(const model::SlurmSettings& settings, const Owner& owner,
                                          const NodeSpec& spec);

/// The script, with the token and the authority's certificate in its body. It becomes `berth node`,
/// so that Slurm's signals reach the agent.
Result<std::string> pilot_script(const model::SlurmSettings& settings,
                                 const std::string& executable, const NodeSpec& spec,
                                 const std::string& authority);

}  // namespace berth::target::slurm
