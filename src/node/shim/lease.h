// SPDX-License-Identifier: Apache-2.0
// How supervisors learn of the deadline that the agent sets (node/core/lease.h).
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "io/files/file.h"
#include "node/core/lease.h"

namespace berth::node {

using core::Deadline;
using core::kLeaseLapsed;

/// The deadline as a file beside the attempts. Written in place, without needing room on a disk
/// that the node's jobs may have filled.
class LeaseFile {
 public:
  static Result<LeaseFile> make(const std::string& work_root);
  Status set(const Deadline& deadline);

 private:
  io::Descriptor file_{};
};

/// A shim's view of it.
class LeaseWatch {
 public:
  /// `attempt_directory` is three levels below the work root. No file there: no lease.
  explicit LeaseWatch(const std::string& attempt_directory);

  bool has_lapsed(Duration now);
  /// When to look again at the latest.
  Duration pause(Duration now) const;

 private:
  io::Descriptor file_{};
  Deadline deadline_{};
};

}  // namespace berth::node
