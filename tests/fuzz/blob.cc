// SPDX-License-Identifier: Apache-2.0
// What storage clients send: block lists, ranges, names of blobs.

#include "fuzz.h"
#include "model/assets/reference.h"
#include "wire/blob/block_list.h"
#include "wire/blob/listing.h"
#include "wire/blob/range.h"

using namespace berth;

FUZZ(input) {
  const auto entries = wire::blob::parse_block_list(input);
  if (entries) fuzz::require(entries->size() <= wire::blob::kMostBlocks, "a list has its limit");
  const std::string escaped = wire::blob::xml_escape(input);
  fuzz::require(escaped.find_first_of("<>\"") == std::string::npos, "escaped text makes no tags");

  const auto range = wire::blob::parse_range(input, 1000);
  if (range && *range) {
    fuzz::require((*range)->first < 1000 && (*range)->length <= 1000 - (*range)->first,
                  "a range lies in its blob");
  }

  (void)wire::blob::listing_from_json(input);

  const auto path = model::checked_blob_path(input);
  if (path) {
    const std::string framed = "/" + *path + "/";
    fuzz::require(framed.find("/../") == std::string::npos &&
                      framed.find("/./") == std::string::npos && !path->starts_with('/'),
                  "a blob's path goes only down");
  }
}
