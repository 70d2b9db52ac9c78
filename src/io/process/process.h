// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "io/files/file.h"

namespace berth::io {

/// A process that cannot be mistaken for another that later got the same number.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< Field 22 of /proc/<pid>/stat.
};
BOOST_DESCRIBE_STRUCT(ProcessIdentity, (), (pid, start_ticks))

Result<ProcessIdentity> identify(pid_t pid);
bool is_alive(const ProcessIdentity& process);  ///< A zombie is not.

/// A pidfd that is certainly this process's: readable once it has ended. NotFound when it is gone.
Result<Descriptor> open_process(const ProcessIdentity& process);
/// Never reaches another process that got the same number. One that is gone is fine.
Status send_signal(const ProcessIdentity& process, int signal);
/// Blocks until it has ended or the time is over; true when it has ended.
bool wait_for_end(const ProcessIdentity& process, Duration at_most);
/// Collects the exit status of a child of ours that has ended, so that it leaves no zombie.
void reap(pid_t child);

struct ProcessEntry {
  ProcessIdentity process{};
  pid_t parent = 0;
};
/// Every process of this machine that is alive, as far as /proc shows them.
std::vector<ProcessEntry> list_processes();

struct SpawnOptions {
  std::vector<std::string> command{};                ///< argv; found by PATH; never a shell.
  std::map<std::string, std::string> environment{};  ///< The whole of it.
  std::string working_directory{};
  std::string stdout_path{};  ///< Appended to; empty: /dev/null.
  int stdin_fd = -1;          ///< Instead of /dev/null.
  int stdout_fd = -1;         ///< Instead of stdout_path; stderr goes to stderr_fd then.
  int stderr_fd = -1;
  bool new_session = false;    ///< setsid(), so that it outlives us.
  std::vector<int> inherit{};  ///< Descriptors it keeps, at the same numbers; all others close.
};

/// posix_spawn. stdin is /dev/null and stderr goes where stdout goes, unless descriptors are given.
Result<ProcessIdentity> spawn(const SpawnOptions& options);

/// This process's environment, and the path of this executable.
std::map<std::string, std::string> current_environment();
Result<std::string> own_executable();

/// From here on nobody gets this process's memory: no core file of it, no debugger of the same
/// user. What it starts is free of that again, once it is another program.
void keep_memory_private();
/// Takes it back, in a child that goes on without being another program.
void share_memory_again();

/// What the machine has, whatever of it may be used here.
int machine_cores();
std::uint64_t machine_memory_mib();
std::uint64_t machine_process_limit();  ///< Processes and threads that there can be at once.

}  // namespace berth::io
