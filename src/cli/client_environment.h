// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/output/shell.h"
#include "cli/place.h"
#include "model/workspace.h"

namespace berth::cli {

/// What the official clients are told about a server.
struct ClientTarget {
  std::string base_url{};  ///< https://…
  std::string token{};
  model::Workspace workspace{};
  std::string bundle{};       ///< Authorities to trust, ours among them; empty: the system's do.
  std::string node_bundle{};  ///< The same for Node.js, which adds them to its own.
  bool is_ours = true;        ///< A server of this state directory.
};

/// The variables of `berth env`, in the order in which it prints them.
Variables client_environment(const ClientTarget& target, const Place& place);

}  // namespace berth::cli
