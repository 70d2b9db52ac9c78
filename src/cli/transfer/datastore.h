// SPDX-License-Identifier: Apache-2.0
// The datastores of a workspace, and what is in them.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/client.h"
#include "wire/blob/address.h"
#include "wire/blob/listing.h"

namespace berth::cli {

enum class Purpose { Read, Write };
/// The container of a datastore, opened by its listSecrets, or by a signature that only reads.
Result<wire::blob::Container> open_datastore(Client& client, const std::string& datastore,
                                             Purpose purpose);

/// All of them, page after page.
Result<std::vector<wire::blob::ListedBlob>> list_blobs(Client& client,
                                                       const wire::blob::Container& container,
                                                       const std::string& prefix);

}  // namespace berth::cli
