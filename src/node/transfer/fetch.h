// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "node/transfer/transfer.h"

namespace berth::node {

/// The steps that put what the launch names into the attempt's directory. Whatever a listing says,
/// nothing lands outside its destination.
std::vector<TransferStep> fetch_steps(const wire::node::Launch& launch);

}  // namespace berth::node
