// SPDX-License-Identifier: Apache-2.0
#include "model/compute_kind.h"

#include <array>

namespace berth::model {
namespace {

/// In the order of ComputeKind's alternatives.
constexpr std::array<ComputeTraits, std::variant_size_v<ComputeKind>> kComputeTraits = {{
    {.arm_type = "AmlCompute", .takes_room = true, .repeats_lost_work = true},
    {.arm_type = "ComputeInstance", .takes_room = true},
    {.arm_type = "VirtualMachine", .shares_nodes = true, .is_one_machine = true},
    {.arm_type = "Kubernetes", .repeats_lost_work = true, .takes_attempts = true},
}};

}  // namespace

const ComputeTraits& traits_of(const Compute& compute) {
  return kComputeTraits.at(compute.kind.index());
}

const ComputeTraits& traits_of(const Compute* compute) {
  return compute == nullptr ? kComputeTraits.front() : traits_of(*compute);
}

}  // namespace berth::model
