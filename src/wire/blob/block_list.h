// SPDX-License-Identifier: Apache-2.0
// Block lists: how a large blob is put together from blocks that were sent one by one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::wire::blob {

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
/// The target of an error is the blob service's own name for it.
Result<std::vector<BlockListEntry>> parse_block_list(std::string_view xml);

/// The id of the block with that number. All ids of a blob have the same length.
std::string block_id(std::uint64_t number);

/// The list of blocks 0 to count - 1, each as it was sent last.
std::string block_list_xml(std::uint64_t count);

}  // namespace berth::wire::blob
