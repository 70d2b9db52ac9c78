// SPDX-License-Identifier: Apache-2.0
#include "model/compute.h"

namespace berth::model {

std::string arm_id(const Workspace& workspace, const Compute& compute) {
  return arm_id(workspace) + "/computes/" + compute.name;
}

}  // namespace berth::model
