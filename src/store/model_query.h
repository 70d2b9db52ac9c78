// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "model/filter.h"
#include "model/workspace.h"

namespace berth::store {

/// Of models: the attributes name, creation_timestamp and last_updated_timestamp; of versions also
/// version_number, run_id and source_path.
struct ModelQuery {
  model::WorkspaceId workspace{};
  model::Filter filter{};
  std::vector<model::Ordering> order{};  ///< Then by name, then the highest version first.
  std::size_t skip = 0;
  std::size_t limit = 100;
};

}  // namespace berth::store
