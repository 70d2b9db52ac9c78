// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/ranks.h"

#include <fmt/format.h>

#include "core/distribution.h"

namespace berth::server {
namespace {

using model::Job;
using wire::node::Launch;
using wire::node::Starter;

constexpr const char* kNodesLog = "user_logs/std_log.txt";

bool is_mpi(const Job& job) {
  const auto distribution = core::read_distribution(job.spec);
  return distribution && distribution->framework == core::Framework::Mpi;
}

/// "10.0.0.1:7000,[fe80::1]:7001": where mpirun finds each member's host.
std::string mpi_hosts(const Job& job) {
  std::string hosts;
  for (const model::Member& member : members_of(job)) {
    const bool is_ipv6 = member.address.find(':') != std::string::npos;
    if (!hosts.empty()) hosts += ',';
    hosts += is_ipv6 ? fmt::format("[{}]:{}", member.address, member.port)
                     : fmt::format("{}:{}", member.address, member.port);
  }
  return hosts;
}

}  // namespace

int rank_of(const Job& job, const model::NodeId& node) {
  for (std::size_t rank = 0; rank < members_of(job).size(); ++rank) {
    if (members_of(job)[rank].node == node) return static_cast<int>(rank);
  }
  return 0;
}

void set_ranks(const Job& job, int node_rank, Launch& launch) {
  if (!core::waits_for_peers(job.spec)) return;
  launch.waits_for_go = true;
  launch.ships_log = node_rank == 0;
  for (core::Rank& rank : core::ranks_of(job.spec, node_rank)) {
    launch.processes.push_back({std::move(rank.environment), std::move(rank.log)});
  }
  if (!is_mpi(job)) return;
  launch.starter = node_rank == 0 ? Starter::Mpirun : Starter::MpiHost;
  launch.directories.emplace_back("mpi");  // For Open MPI's temporary files.
}

std::vector<RankLog> delivered_logs(const Job& job, int node_rank) {
  std::vector<RankLog> logs;
  for (const core::Rank& rank : core::ranks_of(job.spec, node_rank)) {
    const bool is_first = logs.empty();
    logs.push_back({is_first ? kNodesLog : rank.log, rank.log});
  }
  if (node_rank == 0) logs.erase(logs.begin());  // The job's own, which is streamed.
  return logs;
}

wire::node::Go make_go(const Job& job, const model::NodeId& node) {
  const int rank = rank_of(job, node);
  wire::node::Go go{.attempt = {job.key, job.attempt, job.fence},
                    .environment = core::node_topology(job.spec, members_of(job), rank),
                    .processes = core::rank_topology(job.spec, members_of(job), rank)};
  if (is_mpi(job)) go.environment["BERTH_MPI_HOSTS"] = mpi_hosts(job);
  return go;
}

}  // namespace berth::server
