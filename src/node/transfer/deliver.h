// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "node/transfer/transfer.h"

namespace berth::node {

/// False when there certainly is nothing to send back: its folders are empty. A few system calls
/// for each folder that is not known to be untouched, and so empty.
bool has_deliveries(const wire::node::Launch& launch, const std::string& directory,
                    const std::function<bool(std::string_view)>& is_untouched);

/// The steps that send back what the launch names. Links that leave a folder are not followed.
std::vector<TransferStep> deliver_steps(const wire::node::Launch& launch, bool was_success);

}  // namespace berth::node
