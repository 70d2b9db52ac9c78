// SPDX-License-Identifier: Apache-2.0
// The files of registered models. A version is pinned when it is registered: the rows of its blobs
// are copied (their bytes are not) to a place that nobody writes to, with a digest of them all.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/assets/asset.h"
#include "store/store.h"

namespace berth::server {

/// Does the path belong to a registered version? Such blobs are made and deleted with it, and are
/// never written.
bool is_pinned(std::string_view container, std::string_view path);

/// All blobs below the prefix, by path.
Result<std::vector<store::Blob>> blobs_below(store::Store& store,
                                             const model::WorkspaceId& workspace,
                                             std::string_view container, const std::string& prefix);

/// Of all names and bytes; names begin behind `prefix`.
std::string digest_of(const std::vector<store::Blob>& blobs, std::string_view prefix);

/// Takes the files at the version's modelUri as they are now: returns the rows of the copies, and
/// gives the version their address and digest. NotFound: there are none. InvalidArgument: an
/// mlflow_model without the file MLmodel. A model that is not kept here stays as it is.
Result<store::Batch> pin_files(store::Store& store, model::Asset& version);

/// The rows that delete the files of a pinned version.
Result<store::Batch> removal_of_files(store::Store& store, const model::Asset& version);

/// InvalidArgument when the files are not what was registered. Versions without a digest pass.
Status check_files(store::Store& store, const model::Asset& version);

}  // namespace berth::server
