// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "io/process/pipe_pump.h"
#include "node/runtime/command.h"

namespace berth::node {

/// What the processes of one attempt write, on its way into their logs. Each of them holds a pipe,
/// which it may open again by any name (/dev/stderr) and with any flag: what is in a log stays.
class Output {
 public:
  Output(io::PipePump& pump, std::string directory)
      : pump_(pump), directory_(std::move(directory)) {}
  ~Output() { pump_.clear(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Sets what the command's streams are, and tells what MPI starts of its own.
  Status connect(CommandSpec& command);

  /// The log has found no room for so long that the attempt is to be ended. One that holds much of
  /// the disk itself is ended soon, so that the others, who wait for longer, can go on.
  bool has_waited_enough(TimePoint now);
  /// Until has_waited_enough() is worth asking again.
  Duration pause(TimePoint now) const;
  /// Moves what is left, once nobody of the attempt can write any more; how much found no room.
  std::uint64_t drain() { return pump_.drain(); }
  /// Why not: for people.
  std::string trouble() const;
  bool is_for_lack_of_room() const;
  const std::string& directory() const { return directory_; }

 private:
  Result<int> open(const std::string& log, const std::optional<JobUser>& user);

  io::PipePump& pump_;
  std::string directory_;
  std::optional<Duration> patience_{};  ///< While there is trouble.
};

}  // namespace berth::node
