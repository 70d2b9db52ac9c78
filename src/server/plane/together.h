// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::server {

class ControlPlane;

/// While it lives, changes are one batch: all or nothing. When an exception ends it, the batch
/// never happened.
class Together {
 public:
  explicit Together(ControlPlane& plane);
  ~Together();
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;

 private:
  ControlPlane& plane_;
  int faults_;  ///< Exceptions that were on their way when it began.
};

}  // namespace berth::server
