// SPDX-License-Identifier: Apache-2.0
// What a node asks of the blob routes. Blocking; on a transfer's threads only.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "io/http/http_client.h"
#include "io/message/http.h"
#include "wire/blob/address.h"
#include "wire/blob/listing.h"

namespace berth::node {

/// `authority` is the file of a CA to trust beside the system's, here and below; may be empty. An
/// empty marker asks for the first page.
Result<wire::blob::ListedPage> list_blobs(const std::string& authority,
                                          const wire::blob::Container& container,
                                          const std::string& prefix, const std::string& marker);

/// Hands the body to the sink piece by piece. Unavailable and Internal may be worth another try.
Status download(const std::string& authority, const std::string& url,
                std::function<Status(std::string_view)> sink);

/// Large files go up in blocks.
Status upload(const std::string& authority, const std::string& url,
              std::shared_ptr<const io::Descriptor> file, std::uint64_t size);

}  // namespace berth::node
