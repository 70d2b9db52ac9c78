// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "model/job.h"
#include "model/node.h"
#include "server/fleet/job_users.h"
#include "server/fleet/ranks.h"
#include "server/keys/signer.h"
#include "server/plane/references.h"
#include "target/engine.h"
#include "wire/node/message.h"

namespace berth::server {

struct LaunchContext {
  Catalogue catalogue;
  const Signer& signer;
  std::string base_url{};  ///< As the node reaches us.
  WallTime now{};
  const JobUsers* job_users = nullptr;  ///< Of this machine, for its own nodes; none: as they run.
};

/// Everything a node needs to run its share of the job's current attempt: the command with its
/// expressions replaced by paths below the node's work root, the injected variables, and signed
/// URLs for code, inputs and outputs. An error means that the job can never start.
Result<wire::node::Launch> make_launch(const LaunchContext& context, const model::Job& job,
                                       const model::Node& node, const model::Workspace& workspace);

/// The same for an engine, in which the attempt's root is `root`: where a node's agent would add
/// something of its own, nothing is added.
Result<target::AttemptSpec> make_spec(const LaunchContext& context, const model::Job& job,
                                      const std::string& root, const model::Compute& compute,
                                      const model::Workspace& workspace);

}  // namespace berth::server
