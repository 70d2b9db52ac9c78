// SPDX-License-Identifier: Apache-2.0
// Many processes, one job: which node runs which of them, and what each is told about the others.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/job.h"

namespace berth::core {

enum class Framework {
  None,        ///< The command once on each node.
  PyTorch,     ///< The command `processes_per_node` times on each node.
  Mpi,         ///< Likewise, started by mpirun on the head.
  TensorFlow,  ///< The command once for each worker and each parameter server.
};

/// JobSpec::distribution, read and found to be in order.
struct Distribution {
  Framework framework = Framework::None;
  int processes_per_node = 1;
  int workers = 0;
  int parameter_servers = 0;

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

/// InvalidArgument or NotSupported name the field: "distribution.worker_count".
Result<Distribution> read_distribution(const model::JobSpec& spec);

/// Whether the attempt's processes must know of each other before the first of them starts.
bool waits_for_peers(const model::JobSpec& spec);

using Variables = std::map<std::string, std::string>;

/// One process of a node, as far as it is known before anybody has an address.
struct Rank {
  std::string name{};       ///< "rank_3", "worker_0", "ps_1".
  std::string log{};        ///< "user_logs/std_log_process_03.txt"; the head's first: std_log.txt.
  Variables environment{};  ///< RANK, LOCAL_RANK, AZUREML_PROCESS_NAME, …
};

/// The processes of a node, never none. `spec` must have passed read_distribution().
std::vector<Rank> ranks_of(const model::JobSpec& spec, int node_rank);

/// What all processes of a node are told once every member has said where it is. The node's ports
/// from Member::port on are free, as many as it has processes.
Variables node_topology(const model::JobSpec& spec, std::span<const model::Member> members,
                        int node_rank);
/// What each of the node's processes is told beside that, in the order of ranks_of().
std::vector<Variables> rank_topology(const model::JobSpec& spec,
                                     std::span<const model::Member> members, int node_rank);

}  // namespace berth::core
