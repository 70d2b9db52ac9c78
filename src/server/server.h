// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"

namespace berth::server {

inline constexpr std::uint16_t kDefaultPort = 8470;

struct ServerOptions {
  std::string home{};
  std::uint16_t port = kDefaultPort;
  bool is_port_chosen = false;      ///< By somebody who counts on it: no other will do.
  std::vector<std::string> bind{};  ///< Where to answer beside loopback.
  bool is_background = false;       ///< Started by a command line: the log is a file.
  int ready_fd = -1;  ///< Told "ready" when requests are answered, or why they never will be.
  Duration node_idle = std::chrono::minutes(2);
  int slots = 0;                              ///< Jobs at once on this machine; 0: one per core.
  Duration lease = std::chrono::seconds(10);  ///< Of nodes that are not of this machine.
  std::string sizes_file{};      ///< Of the operator's own sizes; empty: <home>/sizes.yml, if any.
  std::string job_users_file{};  ///< Who runs as which Unix user; empty: all as the server.
  int max_requeues = 100;        ///< Then a job whose attempt is taken once more fails.
  /// Of a start by hand: its settings as last-start.yml has them, for the next start by a command.
  std::optional<std::string> last_start{};
  bool is_less_protected = false;  ///< The last one by hand had users of their own for jobs.
};

/// Runs a server until it is told to stop. Returns the process's exit status.
int run_server(const ServerOptions& options);

}  // namespace berth::server
