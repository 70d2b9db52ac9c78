// SPDX-License-Identifier: Apache-2.0
#include "server/plane/together.h"

#include <exception>

#include "server/plane/control_plane.h"

namespace berth::server {

Together::Together(ControlPlane& plane) : plane_(plane), faults_(std::uncaught_exceptions()) {
  plane_.begin_batch();
}

Together::~Together() {
  if (std::uncaught_exceptions() > faults_) {
    plane_.give_up_batch();
  } else {
    plane_.end_batch();
  }
}

}  // namespace berth::server
