// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/job.h"
#include "model/node.h"
#include "wire/node/message.h"

namespace berth::server {

/// What the control plane does to the world once a decision is on disk. Called on the loop's
/// thread; every call may be repeated.
class Effects {
 public:
  virtual ~Effects() = default;
  /// The node's share of the job's attempt.
  virtual void launch(const model::Job& job, const model::Node& node) = 0;
  /// Every member of the attempt has prepared.
  virtual void go(const model::Job& job, const model::NodeId& node) = 0;
  virtual void stop(const wire::node::AttemptRef& attempt, const model::NodeId& node) = 0;
  virtual void forget(const wire::node::AttemptRef& attempt, const model::NodeId& node) = 0;
  virtual void start_node(const model::Node& node) = 0;
  /// It is to end by itself, or to be ended if it does not.
  virtual void dismiss_node(const model::NodeId& node) = 0;
  /// The attempt was lost with a node and the job runs again: what there is of its log stays.
  virtual void attempt_taken(const model::JobKey& job, int attempt) = 0;
  virtual void job_changed(const model::JobKey& job) = 0;
  /// Changes were lost with a failed commit: let every node say again what it holds.
  virtual void resynchronise() = 0;
};

}  // namespace berth::server
