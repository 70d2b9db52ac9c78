// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "core/state.h"
#include "io/http/upstream.h"
#include "io/loop.h"
#include "model/attempt.h"

namespace berth::server {

/// The ways from this server to services. One on a node of this machine is reached at its port; for
/// one elsewhere its node dials, and parks the connections here. Each way is one attempt's: nothing
/// goes to the next through what the last has left. Loop thread only; loop and state outlive it.
class ServiceGate {
 public:
  ServiceGate(io::Loop& loop, const core::State& state) : loop_(loop), state_(state) {}

  /// For a request. NotFound: nothing of that name runs; Unavailable: it is not ready.
  Result<std::shared_ptr<io::Upstream>> way_to(const model::JobKey& service);
  /// For a connection that a node has dialled. Forbidden: the node does not hold that attempt.
  Result<std::shared_ptr<io::Upstream>> parking_of(const model::NodeId& node,
                                                   const model::AttemptRef& attempt);
  /// What waits for an attempt that is over, or goes through it, is ended.
  void job_changed(const model::JobKey& job);

 private:
  struct Way {
    model::AttemptRef attempt{};
    std::shared_ptr<io::Upstream> to{};
  };

  bool goes_on(const model::AttemptRef& attempt) const;
  Result<std::shared_ptr<io::Upstream>> open(const model::Job& job);
  bool is_of_this_machine(const model::NodeId& node) const;

  io::Loop& loop_;
  const core::State& state_;
  std::map<model::JobKey, Way> ways_{};
};

}  // namespace berth::server
