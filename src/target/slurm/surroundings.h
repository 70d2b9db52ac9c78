// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "target/surroundings.h"

namespace berth::target::slurm {

/// Of a process of a Slurm job; none: it is not in one. The end is what Slurm says in the
/// environment, or else squeue.
std::optional<Surroundings> surroundings(const Environment& environment);

}  // namespace berth::target::slurm
