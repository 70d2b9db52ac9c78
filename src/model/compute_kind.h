// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "model/compute.h"

namespace berth::model {

/// What is true of every compute of a kind. A decision asks for a trait, never for the kind, so
/// that it holds for kinds that are added later; what only one kind has (a cluster's scale) is in
/// that kind's struct.
struct ComputeTraits {
  /// What ARM calls the kind: "AmlCompute".
  std::string_view arm_type;
  /// Its nodes count against the capacity of their site, and have devices of their own there.
  bool takes_room = false;
  /// A node takes as many jobs as it has slots, and some ahead. Otherwise it is one job's alone.
  bool shares_nodes = false;
  /// What a lost node worked on is queued again, for another node. Otherwise the job is lost.
  bool repeats_lost_work = false;
  /// There is one node, on a machine that is there with and without us: it is never taken for
  /// somebody else, and idle it goes with the server.
  bool is_one_machine = false;
  /// It has no nodes: an engine takes each attempt whole, and queues it.
  bool takes_attempts = false;
};

const ComputeTraits& traits_of(const Compute& compute);

/// Those of a cluster, for a compute that is not there any more.
const ComputeTraits& traits_of(const Compute* compute);

}  // namespace berth::model
