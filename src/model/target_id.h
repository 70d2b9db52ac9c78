// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "model/compute_key.h"

namespace berth::model {

/// Where jobs line up and nodes belong: one compute. By itself it is the built-in one.
struct TargetId {
  ComputeKey compute{.name = kLocalCompute};

  friend auto operator<=>(const TargetId&, const TargetId&) = default;
};

/// "local", or "<workspace>/<name>": what rows of nodes have, and what people are shown.
std::string record_text(const TargetId& target);
void read_record_text(std::string_view text, TargetId& target);

}  // namespace berth::model
