// SPDX-License-Identifier: Apache-2.0
// The client's side of the blob protocol: addresses and listings.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/client.h"

namespace berth::cli {

/// A container's address and the signature that opens it.
struct Container {
  std::string url{};
  std::string signature{};  ///< A query string, without '?'. A secret: never shown.
};

/// Splits a signed URL.
Container container_from(std::string_view signed_url);
std::string blob_url(const Container& container, std::string_view blob);

enum class Purpose { Read, Write };
/// The container of a datastore, opened by its listSecrets, or by a signature that only reads.
Result<Container> open_datastore(Client& client, const std::string& datastore, Purpose purpose);

struct BlobEntry {
  std::string name{};
  std::uint64_t size = 0;
};

/// One page of List Blobs.
struct BlobPage {
  std::vector<BlobEntry> blobs{};
  std::string next_marker{};
};
BlobPage parse_blob_page(std::string_view xml);

Result<std::vector<BlobEntry>> list_blobs(Client& client, const Container& container,
                                          const std::string& prefix);

}  // namespace berth::cli
