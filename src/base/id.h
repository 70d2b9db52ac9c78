// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>

namespace berth {

/// Text that names one kind of thing. A NodeId does not pass for a JobId.
template <typename Tag>
struct Id {
  std::string text{};

  friend auto operator<=>(const Id&, const Id&) = default;
};

}  // namespace berth
