// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.h"

namespace berth::cli {

Result<int> create_compute(Context& context);
Result<int> update_compute(Context& context);
Result<int> delete_compute(Context& context);

/// What people want to see of one cluster.
std::span<const Column> compute_summary();
/// "/subscriptions/…/computes/<name>".
Result<std::string> compute_path(const Context& context);

}  // namespace berth::cli
