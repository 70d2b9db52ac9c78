// SPDX-License-Identifier: Apache-2.0
// What the commands of an attempt run in: the machine itself; later a virtual environment or a
// container.
#pragma once

#include <boost/describe.hpp>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/files/attempt_files.h"
#include "wire/node/message.h"

namespace berth::node {

/// A command of a job, as it is to be seen by its shell.
struct JobCommand {
  std::string text{};  ///< For bash, or sh where there is no bash.
  std::string working_directory{};
  std::map<std::string, std::string> environment{};  ///< The whole of it.
};

/// The same as a process of this machine.
struct Invocation {
  std::vector<std::string> words{};  ///< The first is the path of the program.
  std::string working_directory{};
  std::map<std::string, std::string> environment{};  ///< The whole of it; secrets belong here.
};

/// Whoever waits for prepare().
struct Watcher {
  std::stop_token cancelled{};
  /// Called with text of the log, in any pieces, while it is made; on the thread of prepare().
  std::function<void(std::string_view)> say = [](std::string_view) {};
};

/// What runs the commands of an attempt. Several processes have an object of the same runtime: the
/// agent prepares, the shim and `berth mpi-rank` wrap, and whoever finds the attempt over cleans
/// up, which may be a later agent. So an object remembers nothing: all that wrap() needs is in
/// RuntimeRecord, which lies in the attempt's directory, and clean_up() knows an attempt by its
/// directory alone.
///
/// Any thread. Every implementation passes tests/contract, which is the full definition.
class Runtime {
 public:
  virtual ~Runtime() = default;

  /// prepare() may block. If not it is called by the agent's loop, which is quicker.
  virtual bool takes_time() const = 0;

  /// Makes ready what the attempt's commands run in, after its files were fetched. Repeating it is
  /// allowed, also after a process was killed in the middle of it, and does not do again what is
  /// done. When it is cancelled it returns soon, with any error.
  virtual Result<RuntimeRecord> prepare(const AttemptPaths& paths, const wire::node::Launch& launch,
                                        const Watcher& watcher) = 0;

  /// How to start a command of an attempt that is prepared. Quick. The attempt's supervisor sees
  /// the end of the process, sends it signals, and takes its exit code for the command's.
  virtual Result<Invocation> wrap(const RuntimeRecord& prepared, JobCommand command) const = 0;

  /// Ends and removes all that belongs to this attempt alone and is neither below its directory
  /// nor a process that its supervisor started. What attempts share, such as an image, stays.
  /// Succeeds when there is nothing. Blocks; not while prepare() runs for the same attempt.
  virtual Status clean_up(const AttemptPaths& paths) = 0;
};

/// Says which runtime a launch asks for. What it returns lives as long as the process.
using RuntimeOf = Runtime& (*)(const wire::node::Launch&);

/// The real answer: the machine itself, since no launch can ask for anything else yet.
Runtime& runtime_of(const wire::node::Launch& launch);

}  // namespace berth::node
