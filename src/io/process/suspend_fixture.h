// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "io/files/file.h"
#include "io/process/process.h"

namespace berth::io {

/// Stops a process, and waits until it stands still: a signal takes a moment, in which it goes on.
inline bool suspend(const ProcessIdentity& process) {
  if (!send_signal(process, SIGSTOP)) return false;
  for (int look = 0; look < 24'000; ++look) {
    const auto stat = read_file(fmt::format("/proc/{}/stat", process.pid));
    if (!stat) return false;
    if (stat->substr(stat->rfind(')') + 1).starts_with(" T")) return true;
    ::usleep(5'000);
  }
  return false;
}

}  // namespace berth::io
