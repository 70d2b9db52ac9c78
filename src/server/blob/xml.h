// SPDX-License-Identifier: Apache-2.0
// The XML of the blob protocol, as far as we speak it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/blob.h"

namespace berth::server {

/// Text for between two tags, or quotes. What XML cannot hold at all becomes U+FFFD.
std::string xml_escape(std::string_view text);

std::string blob_error_xml(std::string_view code, std::string_view message);

/// One line of a block list. `where` tells in which set to look; we keep one.
struct BlockListEntry {
  enum class Where { Latest, Committed, Uncommitted };
  Where where = Where::Latest;
  std::string id{};

  friend bool operator==(const BlockListEntry&, const BlockListEntry&) = default;
};

inline constexpr std::size_t kMostBlocks = 50'000;

/// Reads <BlockList>…</BlockList>: an XML declaration, the three entry tags with base64 in them,
/// and white space between; nothing else, so no entities, comments, attributes or document types.
Result<std::vector<BlockListEntry>> parse_block_list(std::string_view xml);

/// A listing, ready to be written.
struct BlobListing {
  std::string container_url{};
  std::string prefix{};
  std::string marker{};
  std::string delimiter{};
  std::size_t most = 0;
  std::vector<store::Blob> blobs{};     ///< key.path as the client is to see it.
  std::vector<std::string> prefixes{};  ///< Virtual folders.
  std::string next_marker{};            ///< Empty: this is the end.
};

std::string blob_list_xml(const BlobListing& listing, bool with_metadata);
/// {"blobs":[{"name","size"}],"prefixes":[…],"next":…}: what our own programs ask for.
std::string blob_list_json(const BlobListing& listing);

/// The blob's entity tag, in quotes.
std::string etag_of(const store::Blob& blob);

}  // namespace berth::server
