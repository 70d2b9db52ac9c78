// SPDX-License-Identifier: Apache-2.0
// What a member of a job on several nodes, or with several processes, is told beside its command.
#pragma once

#include "model/job.h"
#include "wire/node/message.h"

namespace berth::server {

/// The member's place among the job's nodes; 0, the head's, when it has none.
int rank_of(const model::Job& job, const model::NodeId& node);

/// Processes, who starts them, and whether they wait for their peers. For a job that has none,
/// nothing.
void set_ranks(const model::Job& job, int node_rank, wire::node::Launch& launch);

/// A log of the node that is not streamed: where it lies there, and the name it is known by.
struct RankLog {
  std::string source{};
  std::string name{};
};
std::vector<RankLog> delivered_logs(const model::Job& job, int node_rank);

/// Lets a member start, once all have said where they are.
wire::node::Go make_go(const model::Job& job, const model::NodeId& node);

}  // namespace berth::server
