// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "io/delivery.h"
#include "io/message/http.h"
#include "io/offload.h"

namespace berth::io {

/// The bytes of file ranges one piece after the other, read off the loop and one piece ahead.
class FilePieces {
 public:
  FilePieces(Offload& disk, std::vector<FileRange> ranges);

  /// False once every piece was given.
  bool has_next() const { return ahead_.has_value(); }
  /// An error when the file could not be read, or is shorter than its range.
  Awaitable<Result<std::string>> next();

 private:
  void read_ahead();

  Offload& disk_;
  std::vector<FileRange> ranges_;
  std::size_t current_ = 0;
  std::optional<Delivery<Result<std::string>>> ahead_{};
};

}  // namespace berth::io
