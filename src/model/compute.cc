// SPDX-License-Identifier: Apache-2.0
#include "model/compute.h"

#include "model/site.h"

namespace berth::model {

std::string arm_id(const Workspace& workspace, const Compute& compute) {
  return arm_id(workspace) + "/computes/" + compute.name;
}

Compute local_compute(int slots) {
  return {.key = {.name = kLocalCompute},
          .name = kLocalCompute,
          .location = kLocalSite,
          .site = kLocalSite,
          .kind = Attached{.machine = kLocalCompute, .slots = slots},
          .description = "The server's own machine"};
}

}  // namespace berth::model
