// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "server/plane/control_plane.h"
#include "sim/planted.h"
#include "sim/stage.h"

namespace berth::sim {

/// Makes what templates name, in place of server/arm, which needs templates: the orders, the desks
/// and the commits are the real ones. Of one server process.
class Deployer final : public server::TemplateMaker {
 public:
  Deployer(Stage& stage, server::ControlPlane& plane, Bug bug)
      : stage_(stage), plane_(plane), bug_(bug) {}

  void carry_out(const model::DeploymentKey& key, const std::string& id,
                 const core::MakerOrder& order) override;
  void recorded() override {}

 private:
  void go_on(const model::DeploymentKey& key, const std::string& id, const core::MakerOrder& order);
  void make(const model::DeploymentKey& key, model::DeploymentOperation line);
  Status make(const model::DeploymentOperation& line);

  Stage& stage_;
  server::ControlPlane& plane_;
  Bug bug_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace berth::sim
