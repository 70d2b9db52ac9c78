// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::node {

inline constexpr const char* kExecutableVariable = "BERTH_EXECUTABLE";
inline constexpr const char* kTemporaryVariable = "BERTH_TMPDIR";  ///< The job's own TMPDIR.

/// `berth mpi-rank`, started by Open MPI once for each rank: becomes the job's command, in this
/// node's working directory, with the rank's own log and variables. Returns only when that fails.
int mpi_rank_main();

}  // namespace berth::node
