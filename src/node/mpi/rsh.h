// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "node/mpi/peer.h"

namespace berth::node {

struct MpiCall {
  MpiPeer place{};
  std::string secret{};
  std::string command{};
  Duration patience = std::chrono::seconds(60);  ///< With a host that does not listen yet.
};

/// Has the command run by the member's mpi-host, with our standard streams as its own, and returns
/// its exit status. Blocking.
Result<int> call_mpi_host(const MpiCall& call);

/// `berth mpi-rsh HOST COMMAND…`, run by mpirun in the place of ssh. 255 when there is no status to
/// return, as ssh has it.
int mpi_rsh_main(std::span<const std::string> words);

}  // namespace berth::node
