// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/workspace.h"

namespace berth::store {

struct BlobKey {
  model::WorkspaceId workspace{};
  std::string container{};
  std::string path{};  ///< Checked by model::checked_blob_path.

  friend auto operator<=>(const BlobKey&, const BlobKey&) = default;
};

/// A stretch of a blob's content: one object, whole.
struct Piece {
  std::string sha256{};  ///< Hex: the object's name.
  std::uint64_t size = 0;

  friend bool operator==(const Piece&, const Piece&) = default;
};
BOOST_DESCRIBE_STRUCT(Piece, (), (sha256, size))

/// A blob is a list of objects, so that committing a block list copies nothing.
struct Blob {
  BlobKey key{};
  std::vector<Piece> pieces{};
  std::uint64_t size = 0;
  std::string content_type = "application/octet-stream";
  std::string content_md5{};  ///< Base64; empty when made of blocks.
  std::string etag{};
  std::map<std::string, std::string> metadata{};  ///< Names as the client spelled them.
  WallTime created_at{};
  WallTime modified_at{};
};
// Without the key, which has its own columns.
BOOST_DESCRIBE_STRUCT(Blob, (),
                      (pieces, size, content_type, content_md5, etag, metadata, created_at,
                       modified_at))

struct Block {
  BlobKey key{};
  std::string id{};  ///< Base64, as the client sent it.
  Piece piece{};
  WallTime created_at{};
};
BOOST_DESCRIBE_STRUCT(Block, (), (piece, created_at))

}  // namespace berth::store
