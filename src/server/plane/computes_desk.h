// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/compute.h"
#include "model/site.h"
#include "server/plane/desk.h"

namespace berth::server {

class JobsDesk;

/// Sites and computes, as users ask for them. See desk.h.
class ComputesDesk {
 public:
  ComputesDesk(const DeskParts& parts, JobsDesk& jobs)
      : parts_(parts), state_(parts.ledger.state()), jobs_(jobs) {}

  /// Makes the site 'local' unless it is there; the caller flushes.
  void make_local_site(const model::SiteCapacity& capacity);
  /// Makes it, or changes what may change of the one with the same name.
  Result<model::Site> put_site(model::Site site);
  /// Refused while a compute is on it; 'local' always stays.
  Status remove_site(const std::string& name);

  struct PutCompute {
    model::Compute compute{};
    bool made = false;
    std::string notice{};  ///< Worth telling once: "location 'westeurope' …".
  };
  /// Makes the cluster, or changes what may change of it; another size, tier or location of one
  /// that exists is a Conflict.
  Result<PutCompute> put(model::Compute draft);
  /// It goes with its last node. With work of its own, either that is cancelled or this is refused.
  Status remove(const model::ComputeKey& key, bool cancel_jobs);
  /// As if somebody else needed its room: its job is stopped and queued again, the node goes.
  Status preempt_node(const model::NodeId& node);

 private:
  DeskParts parts_;
  const core::State& state_;
  JobsDesk& jobs_;
};

}  // namespace berth::server
