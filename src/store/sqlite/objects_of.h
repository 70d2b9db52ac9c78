// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "store/store.h"

namespace berth::store {

/// Every object that rows of the batch will name.
inline std::vector<std::string> objects_of(const Batch& batch) {
  std::vector<std::string> names;
  for (const Write& write : batch) {
    if (const auto* put = std::get_if<PutBlob>(&write)) {
      for (const Piece& piece : put->blob.pieces) names.push_back(piece.sha256);
    } else if (const auto* block = std::get_if<PutBlock>(&write)) {
      names.push_back(block->block.piece.sha256);
    }
  }
  return names;
}

}  // namespace berth::store
