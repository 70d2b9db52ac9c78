// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/fleet/engine_keeper.h"
#include "server/fleet/log_store.h"
#include "server/fleet/node_hub.h"
#include "server/fleet/providers.h"
#include "server/keys/signer.h"
#include "server/plane/control_plane.h"
#include "sim/cloud.h"
#include "sim/deployer.h"
#include "sim/disk.h"
#include "sim/engine_site.h"
#include "sim/network.h"
#include "sim/planted.h"

namespace berth::sim {

/// What every server process of this program may share: things that touch the real machine, and
/// that a world without log bytes never uses.
struct Outside {
  Outside();
  ~Outside();

  std::string directory;
  io::Loop loop{};
  io::InlineOffload offload{};
  std::unique_ptr<io::ObjectStore> objects{};
  server::Signer signer{"0123456789abcdef0123456789abcdef"};
};

struct ServerParts {
  Stage& stage;
  Disk& disk;
  Cloud& cloud;
  EngineSite& engine;
  Network& network;
  Outside& outside;
  Bug bug = Bug::None;
};

/// One server process, from its start to its death, made of the real parts: control plane, hub,
/// keeper, launch messages, codec. Destroying it is kill -9.
class SimServer {
 public:
  explicit SimServer(ServerParts parts);
  ~SimServer();

  server::ControlPlane& plane() { return *plane_; }
  /// Whether the state may have changed since it was last asked.
  bool take_changes() { return store_->take_changes(); }
  bool is_idle() const { return store_->is_idle(); }
  /// SIGTERM: `heard` is called when its nodes may go on without it.
  void say_good_bye(std::function<void()> heard);
  bool is_stopping() const { return is_stopping_; }

 private:
  void tick();

  ServerParts parts_;
  WorldClock clock_;
  std::unique_ptr<SimStore> store_;
  server::Providers providers_;
  server::LogStore logs_;
  std::unique_ptr<server::NodeHub> hub_;
  std::unique_ptr<server::ControlPlane> plane_;
  std::unique_ptr<server::EngineKeeper> engines_;
  std::unique_ptr<Deployer> deployer_;
  bool is_stopping_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace berth::sim
