// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "core/state.h"
#include "server/plane/access_desk.h"
#include "server/plane/computes_desk.h"
#include "server/plane/decider.h"
#include "server/plane/deployments_desk.h"
#include "server/plane/effects.h"
#include "server/plane/engines_desk.h"
#include "server/plane/jobs_desk.h"
#include "server/plane/ledger.h"
#include "server/plane/nodes_desk.h"
#include "server/plane/workspaces_desk.h"
#include "store/store.h"

namespace berth::server {

struct PlaneOptions {
  core::Settings settings{};
  int local_gpus = 0;  ///< Devices of this machine, when the site 'local' is made.
  Duration node_idle =
      std::chrono::minutes(2);  ///< Of the target 'local': then its node is let go.
  /// Of each attempt: never the same twice.
  std::function<std::string()> make_fence = [] { return random_hex(4); };
  /// Somebody may do more or less than before, and that is on disk.
  std::function<void()> on_access_changed{};
};

/// Decide, record, act: the Ledger, the Decider and the desks, put together. Those who use it take
/// the parts they need; it has no rules of its own but what is there from the first start.
///
/// Loop thread only. Store, effects and clock must outlive it.
class ControlPlane final : private LedgerOwner {
 public:
  ControlPlane(store::Store& store, Effects& effects, const Clock& clock, PlaneOptions options);

  /// Loads what is live, makes the default workspace when there is none.
  Status start();
  /// Called a few times a second: lets idle nodes go, and tries again what a failed commit undid.
  void tick();

  const core::State& state() const { return ledger.state(); }

  Ledger ledger;
  Decider decider;
  JobsDesk jobs;
  ComputesDesk computes;
  AccessDesk access;
  WorkspacesDesk workspaces;
  NodesDesk nodes;
  EnginesDesk engines;
  DeploymentsDesk deployments;

 private:
  void before(const core::Event& event) override;
  void after(const core::Touched& touched) override;
  void recorded(const core::Touched& touched) override;
  void loaded(core::State& state) override;
  void undone() override;
  Status make_first_things();

  Effects& effects_;
  PlaneOptions options_;
};

}  // namespace berth::server
