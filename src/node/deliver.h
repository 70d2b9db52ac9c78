// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "node/transfer.h"

namespace berth::node {

/// The steps that send back what the launch names. Links that leave a folder are not followed.
std::vector<TransferStep> deliver_steps(const wire::node::Launch& launch, bool was_success);

}  // namespace berth::node
