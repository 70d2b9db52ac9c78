// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "node/mpi/peer.h"

namespace berth::node {

struct MpiHostOptions {
  MpiPeer place{};
  std::string secret{};
  Duration patience = std::chrono::seconds(10);  ///< With a caller that has proved nothing yet.
};

/// Waits for a caller that knows the secret, runs the one command it asks for, with this process's
/// own environment and directory, and returns when that has ended or the caller is gone. Callers
/// that know nothing are refused and change nothing. Forks: call it with one thread.
Status run_mpi_host(const MpiHostOptions& options);

/// `berth mpi-host`, run by a shim on every member of an MPI job but the head.
int mpi_host_main();

}  // namespace berth::node
