// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::node {

inline constexpr const char* kExecutableVariable = "BERTH_EXECUTABLE";
inline constexpr const char* kTemporaryVariable = "BERTH_TMPDIR";  ///< The job's own TMPDIR.
/// What the ranks of this node write to, by their order and with ':' between: pipes of the shim's.
inline constexpr const char* kRankLogsVariable = "BERTH_RANK_LOGS";

/// `berth mpi-rank`, started by Open MPI once for each rank: becomes the job's command, in this
/// node's working directory, with the rank's own log and variables. Returns only when that fails.
int mpi_rank_main();

}  // namespace berth::node
