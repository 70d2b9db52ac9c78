// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "model/assets/asset.h"
#include "store/store.h"

namespace berth::server {

/// The rows that add a version to an asset: the version, and its container with the latest and the
/// next version brought up to date. An empty version means the next free one; a version that exists
/// is a Conflict.
Result<store::Batch> new_version(store::Store& store, model::Asset asset, WallTime now);

/// The rows that delete a version. The container stays, even empty: it knows which version numbers
/// were used. Labels of the version go with it, and the files of a model that were pinned for it.
Result<store::Batch> removal_of(store::Store& store, const model::Asset& asset, WallTime now);

/// The rows that delete an asset with all its versions and what was pinned for them.
Result<store::Batch> removal_of_all(store::Store& store, const model::WorkspaceId& workspace,
                                    model::AssetKind kind, const std::string& name);

}  // namespace berth::server
