// SPDX-License-Identifier: Apache-2.0
#include "server/plane/control_plane.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace berth::server {
namespace {

/// A machine is shared by more nodes than it has cores: they are slots, most of them waiting.
int nodes_of_this_machine(int cores) { return std::max(8, 2 * cores); }

}  // namespace

ControlPlane::ControlPlane(store::Store& store, Effects& effects, const Clock& clock,
                           PlaneOptions options)
    : ledger(store, clock, *this),
      decider({.store = store,
               .ledger = ledger,
               .effects = effects,
               .clock = clock,
               .node_idle = options.node_idle,
               .make_fence = options.make_fence}),
      jobs({store, ledger, decider, clock}),
      computes({store, ledger, decider, clock}, jobs),
      access({store, ledger, decider, clock}, jobs),
      workspaces({store, ledger, decider, clock}),
      nodes({store, ledger, decider, clock}, effects),
      engines({store, ledger, decider, clock}),
      deployments({store, ledger, decider, clock}),
      effects_(effects),
      options_(std::move(options)) {}

Status ControlPlane::start() {
  TRY(ledger.load());
  TRY(decider.start());
  TRY(make_first_things());
  decider.decide();
  ledger.flush();
  return Done{};
}

Status ControlPlane::make_first_things() {
  computes.make_local_site({.nodes = nodes_of_this_machine(options_.settings.machine_cores),
                            .gpus = options_.local_gpus});
  if (state().workspaces.empty()) {
    TRY(workspaces.put({.name = model::kDefaultWorkspace, .display_name = "Default workspace"}));
  }
  return Done{};
}

void ControlPlane::tick() {
  ledger.recover();
  const Status made = make_first_things();  // A failed commit may have undone them.
  if (!made) log::warning("{}", made.error().message);
  decider.let_nodes_go();
  decider.decide();
  ledger.flush();
}

void ControlPlane::before(const core::Event& event) { decider.before(event); }

void ControlPlane::after(const core::Touched& touched) { decider.after(touched); }

void ControlPlane::recorded(const core::Touched& touched) {
  for (const model::JobKey& key : touched.of<model::Job>()) effects_.job_changed(key);
  decider.recorded(touched);
  const bool changes_access = !touched.of<model::User>().empty() ||
                              !touched.of<model::Token>().empty() ||
                              !touched.of<model::RoleAssignment>().empty();
  if (changes_access && options_.on_access_changed) options_.on_access_changed();
}

void ControlPlane::loaded(core::State& state) {
  state.settings = options_.settings;
  core::rebuild_indexes(state);
  // Nobody is connected yet. It is not recorded: every load finds the same out again.
  for (const auto& [id, node] : state.nodes) core::apply_event(state, core::NodeDetached{id});
  decider.loaded();
  jobs.loaded();
  deployments.loaded();
}

void ControlPlane::undone() { effects_.resynchronise(); }

}  // namespace berth::server
