// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/deployment_controller.h"

namespace berth::server {

/// Who can read templates and make what they name. What it has done it says at the DeploymentsDesk;
/// an order of which it says nothing comes again with the next load. Called on the loop's thread,
/// from inside the Ledger: it does its work later.
class TemplateMaker {
 public:
  /// All that the order rests on is on disk. It may come twice, and late: whoever carries it out
  /// looks whether core::step() still says the same.
  virtual void carry_out(const model::DeploymentKey& deployment, const std::string& id,
                         const core::MakerOrder& order) = 0;
  /// Deployments have begun or ended, and that is on disk.
  virtual void recorded() = 0;

 protected:
  ~TemplateMaker() = default;
};

}  // namespace berth::server
