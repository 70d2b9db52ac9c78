// SPDX-License-Identifier: Apache-2.0
#include "server/blob/etag.h"

#include <fmt/format.h>

namespace berth::server {

std::string etag_of(const store::Blob& blob) {
  if (blob.etag.starts_with('"')) return blob.etag;
  if (!blob.etag.empty()) return '"' + blob.etag + '"';
  return fmt::format("\"0x{:X}\"", blob.modified_at.time_since_epoch().count());
}

}  // namespace berth::server
