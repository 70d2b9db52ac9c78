// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <compare>
#include <string>

#include "model/workspace.h"

namespace berth::model {

/// The compute that is there from the start, in every workspace: the server's own machine.
inline constexpr const char* kLocalCompute = "local";

/// A compute's name is unique in its workspace, whatever its case. The built-in one is of no
/// workspace, because all of them share it.
struct ComputeKey {
  WorkspaceId workspace{};
  std::string name{};  ///< In lower case.

  friend auto operator<=>(const ComputeKey&, const ComputeKey&) = default;
};
BOOST_DESCRIBE_STRUCT(ComputeKey, (), (workspace, name))

}  // namespace berth::model
