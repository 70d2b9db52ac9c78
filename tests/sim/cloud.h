// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/offload.h"
#include "model/site.h"
#include "sim/machine.h"
#include "sim/stage.h"
#include "target/node_provider.h"

namespace berth::sim {

/// All sites and the machines on them. They are there whether or not a server is.
class Cloud {
 public:
  Cloud(Stage& stage, Network& network, const Behaviours& behaviours)
      : stage_(stage), network_(network), behaviours_(behaviours) {}

  /// For one server process, alive as long as `caller`: its calls fail, lie and take their time.
  std::unique_ptr<target::NodeProvider> provider(const model::Site& site,
                                                 std::weak_ptr<int> caller);

  Status start(const model::Site& site, const target::NodeSpec& spec);
  std::vector<target::ObservedNode> observe(const model::Site& site);
  void stop(const model::Site& site, const model::NodeId& id);

  /// Machines that are there. Not to be kept.
  std::vector<Machine*> machines();
  /// What is left: "far/pool-3", "local/pool-1 (attempts)".
  std::vector<std::string> leftovers();
  /// Its agent is killed; of a machine that is its site's nothing is left soon after.
  void kill_agent(Machine& machine);
  /// Its site wants it: SIGTERM, and after a while nothing is left.
  void take_back(Machine& machine);

 private:
  using Place = std::pair<std::string, model::NodeId>;
  struct Slot {
    std::unique_ptr<Machine> machine{};
    int number = 0;  ///< Another one for each machine: a later one may have the address of this.
    bool is_pending = true;
  };

  void boot_later(const Place& place, const model::Site& site);
  void destroy_later(const Place& place, Duration delay);
  void destroy_later(const Machine& machine, Duration delay);

  Stage& stage_;
  Network& network_;
  const Behaviours& behaviours_;
  std::map<Place, Slot> slots_{};
  int last_number_ = 0;
};

/// A thread that waits for a provider, without a thread. When its server dies, the call that was
/// under way may have been made or not.
class SimOffload final : public io::Offload {
 public:
  explicit SimOffload(Stage& stage) : stage_(stage) {}
  void run(std::function<Continuation()> blocking) override;

 private:
  Stage& stage_;
  Duration busy_until_{0};
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace berth::sim
