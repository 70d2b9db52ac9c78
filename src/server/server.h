// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"

namespace berth::server {

inline constexpr std::uint16_t kDefaultPort = 8470;

struct ServerOptions {
  std::string home{};
  std::uint16_t port = kDefaultPort;
  bool is_background = false;  ///< Started by a command line: any port will do, the log is a file.
  int ready_fd = -1;  ///< Told "ready" when requests are answered, or why they never will be.
  Duration node_idle = std::chrono::minutes(2);
  int slots = 0;  ///< Jobs at once on this machine; 0: one per core.
};

/// Runs a server until it is told to stop. Returns the process's exit status.
int run_server(const ServerOptions& options);

}  // namespace berth::server
