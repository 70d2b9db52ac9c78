// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "node/runtime/runtime.h"

namespace berth::node {

/// The machine itself: nothing to prepare, nothing to clean up, and a command is run by its shell.
class HostRuntime final : public Runtime {
 public:
  bool takes_time() const override { return false; }
  Result<RuntimeRecord> prepare(const AttemptPaths& paths, const wire::node::Launch& launch,
                                const Watcher& watcher) override;
  Result<Invocation> wrap(const RuntimeRecord& prepared, JobCommand command) const override;
  Status clean_up(const AttemptPaths& paths) override;
};

/// One for the whole process. What the node itself starts for an attempt, mpirun and its hosts,
/// runs in it as well.
Runtime& host_runtime();

}  // namespace berth::node
