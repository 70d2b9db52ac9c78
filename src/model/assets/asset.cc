// SPDX-License-Identifier: Apache-2.0
#include "model/assets/asset.h"

#include "base/check.h"

namespace berth::model {

std::string_view to_collection(AssetKind kind) {
  switch (kind) {
    case AssetKind::Code: return "codes";
    case AssetKind::Data: return "data";
    case AssetKind::Environment: return "environments";
    case AssetKind::Model: return "models";
    case AssetKind::Component: return "components";
  }
  CHECK(false, "every asset kind has a collection");
}

}  // namespace berth::model
