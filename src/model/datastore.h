// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace berth::model {

/// A place blobs are kept. Every workspace has these two; they are not rows.
struct Datastore {
  std::string_view name;
  std::string_view container;
  bool is_default;
};

inline constexpr std::array<Datastore, 2> kDatastores = {{
    {"workspaceblobstore", "azureml-blobstore", true},
    {"workspaceartifactstore", "azureml", false},
}};

std::optional<Datastore> find_datastore(std::string_view name);

}  // namespace berth::model
