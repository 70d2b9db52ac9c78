// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "node/runtime/command.h"
#include "wire/node/message.h"

namespace berth::node {

/// Makes of a launch's command what its starter says: mpirun over all members, on the head, or the
/// host that mpirun calls. NotFound when Open MPI is not there. For a shim: what it starts finds
/// this executable by the shim's process.
Status let_mpi_start(const wire::node::Launch& launch, CommandSpec& command);

}  // namespace berth::node
