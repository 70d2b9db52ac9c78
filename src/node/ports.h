// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "io/files/file.h"

namespace berth::node {

/// Consecutive TCP ports that nobody else can take until they are let go. Members of one job that
/// share a machine hold theirs at the same time, so they never have one in common.
class HeldPorts {
 public:
  /// `count` ports of the address. When `first` is not 0 it must be those from there on.
  static Result<HeldPorts> take(const std::string& address, int count, int first = 0);

  int first() const { return first_; }

 private:
  int first_ = 0;
  std::vector<io::Descriptor> sockets_{};
};

}  // namespace berth::node
