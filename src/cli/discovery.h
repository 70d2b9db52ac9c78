// SPDX-License-Identifier: Apache-2.0
// Finds the server of a state directory, and starts one when none answers.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/output/console.h"
#include "cli/place.h"
#include "io/process/process.h"

namespace berth::cli {

/// <home>/server.json, written by the server when it is ready.
struct ServerFile {
  int pid = 0;
  std::uint64_t start_ticks = 0;
  std::uint16_t port = 0;
  std::string address{};
  std::string version{};
  std::string started_at{};
};
BOOST_DESCRIBE_STRUCT(ServerFile, (), (pid, start_ticks, port, address, version, started_at))

/// Where a server answers, and how to prove who we are.
struct Endpoint {
  std::string base_url{};
  std::string token{};
  std::string authority_file{};
  std::string version{};  ///< Of a server that is ours, as it said when it started.
  bool is_ours = true;    ///< Not BERTH_URL's: we may start it.
};

/// What server.json says, if its process is alive.
std::optional<ServerFile> running_server(const Place& place);
io::ProcessIdentity identity(const ServerFile& file);

/// The server to talk to: BERTH_URL's or the one running on this home. NotFound when there is none.
/// Asks nobody: that it answers is not checked.
Result<Endpoint> find_server(const Place& place);

/// Like find_server(), but makes sure that it answers and starts one in the background if need be.
/// Of several callers at once, one starts it and the others wait.
Result<Endpoint> ensure_server(const Place& place, const Console& console);

}  // namespace berth::cli
