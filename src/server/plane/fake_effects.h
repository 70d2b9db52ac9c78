// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/plane/effects.h"

namespace berth::server {

/// A world in which decisions have no consequences. For tests.
class NoEffects final : public Effects {
 public:
  void launch(const model::Job&, const model::Node&) override {}
  void go(const model::Job&, const model::NodeId&) override {}
  void stop(const wire::node::AttemptRef&, const model::NodeId&) override {}
  void forget(const wire::node::AttemptRef&, const model::NodeId&) override {}
  void start_node(const model::Node&) override {}
  void dismiss_node(const model::NodeId&) override {}
  void attempt_taken(const model::JobKey&, int) override {}
  void job_changed(const model::JobKey&) override {}
  void resynchronise() override {}
};

}  // namespace berth::server
