// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "model/asset.h"
#include "store/store.h"

namespace berth::server {

/// The rows that add a version to an asset: the version, and its container with the latest and the
/// next version brought up to date. An empty version means the next free one; a version that exists
/// is a Conflict.
Result<store::Batch> new_version(store::Store& store, model::Asset asset, WallTime now);

}  // namespace berth::server
