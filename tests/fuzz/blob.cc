// SPDX-License-Identifier: Apache-2.0
// What storage clients send: block lists, ranges, names of blobs.

#include "fuzz.h"
#include "model/reference.h"
#include "server/blob/range.h"
#include "server/blob/xml.h"

using namespace berth;

FUZZ(input) {
  const auto entries = server::parse_block_list(input);
  if (entries) fuzz::require(entries->size() <= server::kMostBlocks, "a list has its limit");
  const std::string escaped = server::xml_escape(input);
  fuzz::require(escaped.find_first_of("<>\"") == std::string::npos, "escaped text makes no tags");

  const auto range = server::parse_range(input, 1000);
  if (range && *range) {
    fuzz::require((*range)->first < 1000 && (*range)->length <= 1000 - (*range)->first,
                  "a range lies in its blob");
  }

  const auto path = model::checked_blob_path(input);
  if (path) {
    const std::string framed = "/" + *path + "/";
    fuzz::require(framed.find("/../") == std::string::npos &&
                      framed.find("/./") == std::string::npos && !path->starts_with('/'),
                  "a blob's path goes only down");
  }
}
