// SPDX-License-Identifier: Apache-2.0
// `berth node --server …`: an agent on a machine that shares nothing with the server but a network.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "model/node.h"

namespace berth::node {

struct RemoteArguments {
  model::NodeId id{};
  std::string server{};          ///< "https://host:port". Stays where it is, also when restarted.
  std::string authority_file{};  ///< Read once; may be a pipe.
  std::string token_file{};      ///< Likewise.
  int slots = 1;
  std::string work_directory{};  ///< Where to make a directory of its own; empty: TMPDIR or /tmp.
};

/// Runs an agent in a directory of its own, which is removed when it ends.
Status run_remote_node(const RemoteArguments& arguments);

/// Removes what agents that were killed left there, when nobody has used it for an hour.
void remove_abandoned(const std::string& base, WallTime now);

}  // namespace berth::node
