// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace berth::wire::blob {

struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t length = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// Reads "bytes=0-99", "bytes=100-" or "bytes=-20" against a blob's size. A header that is not one
/// range of bytes is no range at all (HTTP: ignore it); one that begins beyond the end is an
/// InvalidRange.
Result<std::optional<ByteRange>> parse_range(std::string_view header, std::uint64_t size);

}  // namespace berth::wire::blob
