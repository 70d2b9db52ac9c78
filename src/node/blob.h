// SPDX-License-Identifier: Apache-2.0
// What a node asks of the blob routes. Blocking; on a transfer's threads only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/http.h"
#include "io/http_client.h"

namespace berth::node {

/// "http://host/blob/ws/c?sig" and "a b.txt" -> "http://host/blob/ws/c/a%20b.txt?sig".
std::string blob_url(const std::string& container_url, std::string_view name);
/// The address with more query parameters ("comp=block&blockid=…").
std::string with_query(const std::string& url, std::string_view parameters);

struct BlobPage {
  std::vector<std::string> names{};
  std::string next{};  ///< Empty: that was all.
};
/// `authority` is the file of a CA to trust beside the system's, here and below; may be empty.
Result<BlobPage> list_blobs(const std::string& authority, const std::string& container_url,
                            const std::string& prefix, const std::string& marker);

/// Hands the body to the sink piece by piece. Unavailable and Internal may be worth another try.
Status download(const std::string& authority, const std::string& url,
                std::function<Status(std::string_view)> sink);

/// Large files go up in blocks.
Status upload(const std::string& authority, const std::string& url,
              std::shared_ptr<const io::Descriptor> file, std::uint64_t size);

}  // namespace berth::node
