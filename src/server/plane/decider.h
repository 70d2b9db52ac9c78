// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "core/controller.h"
#include "core/deployment_controller.h"
#include "core/schedule.h"
#include "server/plane/effects.h"
#include "server/plane/idleness.h"
#include "server/plane/ledger.h"
#include "server/plane/template_maker.h"

namespace berth::server {

struct DeciderParts {
  store::Store& store;
  Ledger& ledger;
  Effects& effects;
  const Clock& clock;
  Duration node_idle{};                     ///< Of the target 'local': then its node is let go.
  std::function<std::string()> make_fence;  ///< Of each attempt: never the same twice.
};

/// Decides what follows from the State (core/schedule.h) and carries it out: as events, and as
/// effects that run when those are on disk. It hands nothing to the store; its caller flushes.
///
/// Loop thread only.
class Decider {
 public:
  explicit Decider(DeciderParts parts);

  /// When the ledger has loaded, and before anything is decided.
  Status start();
  /// Of the next job that is submitted.
  std::int64_t next_job_sequence() { return next_job_sequence_++; }
  void decide();
  /// Tells nodes to leave that have been idle for too long, and dismisses those that nothing keeps
  /// any more.
  void let_nodes_go();
  /// When that is to be done again at the latest, if nothing changes.
  std::optional<TimePoint> next_departure() const { return next_departure_; }

  /// Who makes what templates name; nullptr: nobody does, and deployments wait.
  void attach(TemplateMaker* maker);
  const TemplateMaker* maker() const { return maker_; }

  // What a change entails at the nodes that hold the job.

  /// The node's job is stopped and queued again, the node goes.
  void preempt(const model::NodeId& node, const std::string& reason);
  /// The attempt that the job has now and no later one.
  void launch_member(const model::JobKey& job, const model::NodeId& node);
  /// Members that the attempt needs no more are told to stop.
  void stop_rest(const model::JobKey& job);

  // As LedgerOwner.
  void before(const core::Event& event) { idleness_.before(event); }
  void after(const core::Touched& touched);
  void recorded(const core::Touched& touched);
  void loaded();

 private:
  void carry_out(const core::Plan& plan);
  /// Asks for what follows, of each that may have something to order, until nothing more does.
  template <typename T>
  void step_restless();
  void carry_out(const model::JobKey& parent, const core::Order& order);
  void carry_out(const model::DeploymentKey& deployment, const core::DeploymentOrder& order);
  void ask_maker(const model::DeploymentKey& deployment, const core::MakerOrder& order);
  void request(model::Node node);
  void place(core::JobPlaced placed);
  void hand_over(core::EngineRunStarted started);
  void dismiss_leaving();
  void expect_departure(TimePoint at);

  DeciderParts parts_;
  Ledger& ledger_;
  const core::State& state_;
  Idleness idleness_;
  std::int64_t next_node_sequence_ = 1;
  std::int64_t next_job_sequence_ = 1;
  core::EntityKeys restless_;  ///< Parents and deployments that may have something to order.
  TemplateMaker* maker_ = nullptr;
  std::map<model::NodeId, TimePoint> leaving_since_;  ///< Nodes that can still be recalled.
  std::optional<TimePoint> next_departure_;
};

}  // namespace berth::server
