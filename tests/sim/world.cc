// SPDX-License-Identifier: Apache-2.0
#include "sim/world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace berth::sim {

using namespace std::chrono_literals;

namespace {

/// Longer than any chain of time-outs and pauses that a server in peace goes through: two minutes
/// for a machine that never connects, a minute between tries, leases, and the next look.
constexpr Duration kPeaceWithin = 15min;
/// As long as src/server/fleet/node_hub.cc waits for nodes that do not answer.
constexpr Duration kTimeToHear = 3s;

}  // namespace

World::World(std::uint64_t seed, Outside& outside, Bug bug)
    : stage_(seed),
      outside_(outside),
      bug_(bug),
      network_(stage_),
      cloud_(stage_, network_, behaviours_),
      engine_(stage_, behaviours_),
      users_(stage_, behaviours_, [this] { return server_.get(); }) {
  disk_.all<model::Workspace>()[{"w"}] = {.id = {"w"}, .name = model::kDefaultWorkspace};
  // Nobody can make one yet.
  const model::ComputeKey key{{"w"}, kEngine};
  disk_.all<model::Compute>()[key] = {.key = key,
                                      .name = kEngine,
                                      .site = model::kLocalSite,
                                      .kind = model::AttachedEngine{.at_once = 3}};
  start_server();
  users_.set_up();
}

World::~World() = default;

// ---- The server
// ----------------------------------------------------------------------------------

void World::start_server() {
  if (server_) return;
  ++servers_;
  stage_.note("server starts");
  server_ = std::make_unique<SimServer>(
      ServerParts{stage_, disk_, cloud_, engine_, network_, outside_, bug_});
}

void World::crash_server() {
  if (!server_) return;
  stage_.note("server dies");
  server_.reset();
}

void World::stop_server() {
  if (!server_) return;
  stage_.note("server stops");
  const auto ends = [this, stopped = servers_] {
    if (servers_ == stopped) crash_server();
  };
  server_->say_good_bye([this, ends] { stage_.time.after(0ms, ends); });
  stage_.time.after(kTimeToHear, ends);
}

void World::back_up() {
  backup_ = disk_;
  remembered_ = stage_.judge.remember();
  stage_.note("backup");
}

void World::restore() {
  if (!backup_) return;
  crash_server();
  network_.lose_everything_sent();
  stage_.note("backup restored");
  disk_ = *backup_;
  is_restored_ = true;
  stage_.judge.restored(remembered_);
}

// ---- Time
// ----------------------------------------------------------------------------------------

void World::step() {
  if (!stage_.time.step()) return stage_.judge.blame("nothing will ever happen again");
  if (server_ && server_->take_changes()) core::check_invariants(server_->plane().state());
}

void World::pass(Duration time) {
  (void)pass_until([] { return false; }, time);
}

std::optional<std::string> World::live() { return live(choose_faults()); }

std::optional<std::string> World::live(const Faults& faults) {
  stage_.faults = faults;
  trouble();
  pass(stage_.random.between(15s, 90s));
  find_peace();
  return stage_.judge.verdict();
}

void World::find_peace() {
  is_troubled_ = false;
  stage_.faults = {};
  network_.heal();
  engine_.find_peace();
  stage_.note("peace");
  if (server_ && server_->is_stopping()) crash_server();
  start_server();
  users_.calm_down();
  // What an agent left that died while its server's backup did not know it goes with the next job
  // of this machine.
  if (is_restored_) users_.submit(users_.draft("next", "local", 1, {.runs = 5ms}));
  const bool found = pass_until([this] { return is_at_peace(); }, kPeaceWithin);
  if (!found) stage_.judge.blame("there is no end: " + what_is_left());
  stage_.judge.check_promises();
}

bool World::is_at_peace() {
  return server_->plane().state().nodes.empty() && !users_.has_open_requests() &&
         server_->plane().state().jobs.empty() && stage_.judge.unfinished().empty() &&
         server_->plane().state().deployments.empty() &&
         stage_.judge.deployments().unfinished().empty() && cloud_.leftovers().empty() &&
         engine_.leftovers().empty() && !stage_.judge.anything_runs();
}

std::string World::what_is_left() {
  std::string nodes;
  for (const auto& [id, node] : server_->plane().state().nodes) {
    nodes += fmt::format(" {}:{}", id.text, boost::describe::enum_to_string(node.status, "?"));
  }
  return fmt::format("jobs [{}], deployments [{}], nodes [{}], machines [{}], attempts [{}]",
                     fmt::join(stage_.judge.unfinished(), " "),
                     fmt::join(stage_.judge.deployments().unfinished(), " "), nodes,
                     fmt::join(cloud_.leftovers(), " "), fmt::join(engine_.leftovers(), " "));
}

// ---- Trouble
// -------------------------------------------------------------------------------------

Faults World::choose_faults() {
  Random& random = stage_.random;
  Faults faults;
  if (random.chance(5)) return faults;  // Now and then nothing goes wrong at all.
  for (bool* fault : {&faults.connections_break, &faults.partitions, &faults.agents_die,
                      &faults.machines_die, &faults.supervisors_die, &faults.server_crashes,
                      &faults.server_stops, &faults.disk_fails, &faults.disk_is_slow,
                      &faults.wall_clock_jumps, &faults.site_takes_back, &faults.engine_loses}) {
    *fault = random.chance(40);
  }
  faults.backup_restored = random.chance(10);
  for (int* percent : {&faults.provider_fails, &faults.provider_fails_late, &faults.provider_lies,
                       &faults.provider_is_slow, &faults.boots_fail, &faults.engine_is_behind}) {
    *percent = random.chance(30) ? 5 + random.below(40) : 0;
  }
  return faults;
}

void World::trouble() {
  is_troubled_ = true;
  const auto people = [this](const auto& again) -> void {
    if (!is_troubled_) return;
    users_.act();
    stage_.time.after(stage_.random.between(20ms, 1500ms), [again] { again(again); });
  };
  const auto harm = [this](const auto& again) -> void {
    if (!is_troubled_) return;
    do_harm();
    stage_.time.after(stage_.random.between(50ms, 2500ms), [again] { again(again); });
  };
  stage_.time.after(100ms, [people] { people(people); });
  stage_.time.after(1s, [harm] { harm(harm); });
}

Machine* World::some_machine() {
  const std::vector<Machine*> machines = cloud_.machines();
  if (machines.empty()) return nullptr;
  return machines[static_cast<std::size_t>(stage_.random.below(static_cast<int>(machines.size())))];
}

void World::do_harm() {
  const Faults& faults = stage_.faults;
  Random& random = stage_.random;
  if (!server_) return start_server();
  Machine* machine = some_machine();
  switch (random.below(12)) {
    case 0:
      if (faults.connections_break) network_.break_one();
      return;
    case 1:
      if (faults.partitions && machine != nullptr) {
        stage_.note("cut off", machine->spec().id.text);
        network_.cut(machine->spec().id, random.between(1s, 40s));
      }
      return;
    case 2:
      if (faults.agents_die && machine != nullptr) {
        stage_.note("agent killed", machine->spec().id.text);
        cloud_.kill_agent(*machine);
      }
      return;
    case 3:
      if (faults.machines_die && machine != nullptr && machine->parts().is_remote) {
        machine->destroy();
      }
      return;
    case 4:
      if (faults.supervisors_die && machine != nullptr) machine->kill_some_supervisor();
      return;
    case 5:
    case 6:
      if (faults.server_crashes) crash_server();
      return;
    case 7:
      if (faults.wall_clock_jumps) {
        stage_.wall_offset += random.between(Duration(-24h), Duration(24h));
        stage_.note("the wall clock jumps");
      }
      return;
    case 8:
      if (faults.site_takes_back && machine != nullptr && machine->parts().is_remote) {
        stage_.note("taken back", machine->spec().id.text);
        cloud_.take_back(*machine);
      }
      return;
    case 9:
      if (faults.server_stops) stop_server();
      return;
    case 10:
      if (faults.engine_loses) engine_.harm_something();
      return;
    default:
      if (!faults.backup_restored || !server_->is_idle()) return;
      if (backup_) {
        restore();
        backup_.reset();
      } else {
        back_up();
      }
  }
}

}  // namespace berth::sim
