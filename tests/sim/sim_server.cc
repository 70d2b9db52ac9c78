// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_server.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>

#include "base/check.h"

namespace berth::sim {

using namespace std::chrono_literals;

namespace {

constexpr Duration kTick = 1s;
constexpr Duration kTickWithNodes = 200ms;
constexpr Duration kLeaseWhileStopped = 5min;

std::string make_directory() {
  std::string name = std::filesystem::temp_directory_path() / "berth-sim-XXXXXX";
  CHECK(::mkdtemp(name.data()) != nullptr, "there is a place for temporary files");
  return name;
}

server::PlaneOptions plane_options(Stage& stage) {
  return {.settings = {.local = model::local_compute(2),
                       .machine_cores = 4,
                       .machine_memory_mib = 16 * 1024,
                       .max_requeues = 100,
                       .sizes = model::built_in_sizes()},
          .node_idle = 5s,
          .make_fence = [&stage] { return fmt::format("{:08x}", stage.random.next() >> 32); }};
}

}  // namespace

Outside::Outside() : directory(make_directory()) {
  auto opened = io::ObjectStore::open(directory + "/objects");
  CHECK(opened, "a directory for objects can be made");
  objects = std::make_unique<io::ObjectStore>(std::move(*opened));
}

Outside::~Outside() {
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
}

SimServer::SimServer(ServerParts parts)
    : parts_(parts),
      clock_(parts.stage.time, parts.stage.wall_offset, parts.stage.random.between(1s, 1h)),
      store_(make_store(parts.bug, parts.stage, parts.disk)),
      providers_([this](const model::Site& site) { return parts_.cloud.provider(site, alive_); },
                 [stage = &parts.stage] { return std::make_unique<SimOffload>(*stage); }),
      logs_(parts.outside.directory + "/live", *parts.outside.objects, parts.outside.offload) {
  hub_ = std::make_unique<server::NodeHub>(server::NodeHubParts{
      .loop = parts_.outside.loop,
      .providers = providers_,
      .logs = logs_,
      .signer = parts_.outside.signer,
      .clock = clock_,
      .lease = 10s,
      .lease_while_stopped = kLeaseWhileStopped,
      .boot_clock = {"simulated", [&stage = parts_.stage] { return stage.time.now(); }},
      .on_job_changed = [](const model::JobKey&) {}});
  plane_ =
      std::make_unique<server::ControlPlane>(*store_, *hub_, clock_, plane_options(parts_.stage));
  hub_->attach(*plane_, *store_, {"http://127.0.0.1:1", "https://server:1", "/ca.pem"});
  engines_ = std::make_unique<server::EngineKeeper>(server::EngineKeeperParts{
      .plane = *plane_,
      .store = *store_,
      .signer = parts_.outside.signer,
      .clock = clock_,
      .url = "https://server:1",
      .make = [this](const model::Compute&) -> Result<std::unique_ptr<target::Engine>> {
        return plant(parts_.bug, parts_.engine.engine(alive_));
      },
      .make_thread = [stage = &parts_.stage] { return std::make_unique<SimOffload>(*stage); }});
  CHECK(plane_->start(), "the disk can be read when a server starts");
  deployer_ = std::make_unique<Deployer>(parts_.stage, *plane_, parts_.bug);
  plane_->deployments.resume(*deployer_);
  parts_.network.listen([this](const model::NodeId& node, std::shared_ptr<io::WebSocket> socket) {
    hub_->accept(node, plant(parts_.bug, *plane_, node, std::move(socket)));
  });
  hub_->reconcile();
  tick();
}

SimServer::~SimServer() { parts_.network.server_dies(); }

void SimServer::say_good_bye(std::function<void()> heard) {
  if (std::exchange(is_stopping_, true)) return;
  hub_->say_good_bye(std::move(heard));
}

void SimServer::tick() {
  if (is_stopping_) return;
  plane_->tick();
  hub_->reconcile();
  engines_->reconcile();
  const bool has_nodes = !plane_->state().nodes.empty();
  parts_.stage.time.after(has_nodes ? kTickWithNodes : kTick,
                          [this, alive = std::weak_ptr<int>(alive_)] {
                            if (!alive.expired()) tick();
                          });
}

}  // namespace berth::sim
