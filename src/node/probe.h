// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "model/service.h"

namespace berth::node {

/// Asks the service at that port of this machine once. Blocks, for as long as a probe may take.
Status probe_service(const model::Probe& probe, int port);

}  // namespace berth::node
