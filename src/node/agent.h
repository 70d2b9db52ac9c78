// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "io/address.h"
#include "model/node.h"
#include "node/shim/shim.h"

namespace berth::node {

/// A server on another machine, which is always found at the same address.
struct RemoteServer {
  io::ServerAddress address{};
  std::string token{};
  std::string authority{};       ///< PEM: the one that vouches for the server.
  std::string authority_file{};  ///< The same, for transfers.
};

struct AgentOptions {
  model::NodeId id{};
  std::string home{};       ///< State directory of the server on this machine.
  std::string work_root{};  ///< Where attempts live. Absolute.
  std::string token_file{};
  std::string identity_file{};  ///< Where it says which process it is, once it is the only one.
  int slots = 1;
  std::optional<RemoteServer> remote{};  ///< Instead of `home` and `token_file`.
  std::string address = "127.0.0.1";     ///< Where other nodes of the cluster reach this one.
  std::optional<WallTime> ends_at{};     ///< When the site takes this node back.
  Duration lonely_after =
      std::chrono::seconds(60);  ///< Without a server and with nothing that runs, it ends.
  Duration housekeeping = std::chrono::seconds(1);  ///< How often it looks whether to end.
  ShimSettings shims{};
};

/// `berth node`: dials the server, runs attempts, survives the server. Returns when told to leave,
/// or when nothing runs and it has had no server for a minute (two seconds when the server was
/// stopped and did not crash); what has ended lies on disk for the next agent. A remote one ends
/// so only when its lease has lapsed, too; and SIGTERM, which its site sends, stops its work first.
/// Forks: call it while the process has one thread. Conflict when another agent of the same work
/// root is alive.
Status run_agent(const AgentOptions& options);

}  // namespace berth::node
