// SPDX-License-Identifier: Apache-2.0
// Lists of blobs and errors, in the XML of the blob protocol and, for our own programs, in JSON.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace berth::wire::blob {

/// Text for between two tags, or quotes. What XML cannot hold at all becomes U+FFFD.
std::string xml_escape(std::string_view text);

std::string blob_error_xml(std::string_view code, std::string_view message);

struct ListedBlob {
  std::string name{};  ///< As the client is to see it.
  std::uint64_t size = 0;
  std::string content_type{};
  std::string content_md5{};  ///< Base64; empty: not known.
  std::string etag{};         ///< In quotes.
  std::map<std::string, std::string> metadata{};
  WallTime created_at{};
  WallTime modified_at{};
};
BOOST_DESCRIBE_STRUCT(ListedBlob, (), (name, size))  // What the JSON form has.

/// A listing, ready to be written.
struct Listing {
  std::string container_url{};
  std::string prefix{};
  std::string marker{};
  std::string delimiter{};
  std::size_t most = 0;
  std::vector<ListedBlob> blobs{};
  std::vector<std::string> prefixes{};  ///< Virtual folders.
  std::string next_marker{};            ///< Empty: this is the end.
};

std::string listing_to_xml(const Listing& listing, bool with_metadata);
/// {"blobs":[{"name","size"}],"prefixes":[…],"next":…}: what our own programs ask for.
std::string listing_to_json(const Listing& listing);

/// The same as it is read.
struct ListedPage {
  std::vector<ListedBlob> blobs{};
  std::vector<std::string> prefixes{};
  std::string next{};  ///< The marker of the next page; empty: that was all.
};
BOOST_DESCRIBE_STRUCT(ListedPage, (), (blobs, prefixes, next))
Result<ListedPage> listing_from_json(std::string_view text);

}  // namespace berth::wire::blob
