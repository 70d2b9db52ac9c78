// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "io/file.h"
#include "io/process.h"

namespace berth::node {

/// A small process without threads that forks shims on request: the agent has threads and must not
/// fork itself. It ends with the agent; the shims do not.
class Zygote {
 public:
  /// Forks. Only while this process has one thread.
  static Result<Zygote> start();

  /// Starts a shim for the attempt whose launch.json lies there. Blocks for about a fork.
  /// Unavailable when the zygote is gone; nothing but a new agent helps then.
  Result<io::ProcessIdentity> launch(const std::string& attempt_directory);

 private:
  io::Descriptor socket_{};
};

}  // namespace berth::node
