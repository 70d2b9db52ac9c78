// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/delivery.h"
#include "io/message/http.h"
#include "io/offload.h"

namespace berth::io {

/// Writes a body to a temporary file and hashes it on the offload, one piece at a time: while one
/// piece is written, the session reads the next.
class BodySpool {
 public:
  BodySpool(Offload& disk, const std::string& directory, bool with_md5);

  /// Waits for the piece before, then hands this one over.
  Awaitable<Status> write(std::string piece);
  /// Writes the last piece, syncs, and gives the file.
  Awaitable<Result<SpooledBody>> finish(std::string piece);

 private:
  struct Work;

  void start(std::string piece, bool is_last);
  Awaitable<Status> settle();

  Offload& disk_;
  std::shared_ptr<Work> work_;
  std::optional<Delivery<Status>> pending_{};
};

}  // namespace berth::io
