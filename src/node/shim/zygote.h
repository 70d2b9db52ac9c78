// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "io/files/file.h"
#include "io/process/process.h"
#include "node/shim/handover.h"
#include "node/shim/shim.h"

namespace berth::node {

/// The agent's end of a shim. When it is dropped the shim finishes what it has begun and ends.
class Supervisor {
 public:
  Supervisor(io::ProcessIdentity process, io::Descriptor socket)
      : process_(process), socket_(std::move(socket)) {}

  const io::ProcessIdentity& process() const { return process_; }
  int fd() const { return socket_.get(); }  ///< Readable when the attempt is over, or the shim.
  /// False when the shim has ended, and how the attempt went must be found out otherwise.
  bool is_idle_again();
  void stop();

 private:
  friend class Zygote;
  bool hand(std::string_view message) const;

  io::ProcessIdentity process_{};
  io::Descriptor socket_{};
  bool was_stopped_ = false;
};

/// A small process without threads that forks shims on request: the agent has threads and must not
/// fork itself. It ends with the agent; shims that are at work do not.
class Zygote {
 public:
  /// Forks. Only while this process has one thread.
  static Result<Zygote> start(const ShimSettings& settings = {});

  /// Has a shim run the attempt whose launch.json lies there: one that has nothing to do, or a new
  /// one, for which this blocks for about a fork. Unavailable when the zygote is gone; nothing but
  /// a new agent helps then. TooLarge when its secrets are.
  Result<Supervisor> launch(const Handover& attempt);

  /// One whose attempt is over may run another.
  void keep(Supervisor supervisor);
  /// Has those that do nothing end, and waits until they have: an agent that leaves in good order
  /// leaves no process behind.
  void dismiss_idle();

 private:
  Result<Supervisor> fork_shim() const;

  io::Descriptor socket_{};
  std::vector<Supervisor> idle_{};
};

}  // namespace berth::node
