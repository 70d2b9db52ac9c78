// SPDX-License-Identifier: Apache-2.0
#include "server/blob/job_log.h"

#include "server/assets/log_blob.h"
#include "server/fleet/log_store.h"
#include "server/plane/ledger.h"

namespace berth::server {

Result<std::vector<io::FileRange>> open_range(const io::ObjectStore& objects,
                                              const store::Blob& blob, std::uint64_t first,
                                              std::uint64_t length) {
  std::vector<io::FileRange> ranges;
  std::map<std::string_view, std::shared_ptr<const io::Descriptor>> open;  // A piece may repeat.
  const std::uint64_t end = first + length;
  std::uint64_t start = 0;  // Of the piece, in the blob.
  for (const store::Piece& piece : blob.pieces) {
    const std::uint64_t from = std::max(first, start);
    const std::uint64_t to = std::min(end, start + piece.size);
    if (from < to) {
      auto& file = open[piece.sha256];
      if (!file) file = TRY(objects.open_object(piece.sha256));
      ranges.push_back({file, from - start, to - from});
    }
    start += piece.size;
    if (start >= end) break;
  }
  return ranges;
}

std::optional<model::JobKey> growing_log(const Services& services, const store::BlobKey& key) {
  constexpr std::string_view kStart = "ExperimentRun/dcid.";
  const std::string_view path = key.path;
  if (!path.starts_with(kStart)) return std::nullopt;
  const std::size_t slash = path.find('/', kStart.size());
  const model::JobKey job{key.workspace,
                          std::string(path.substr(kStart.size(), slash - kStart.size()))};
  if (log_blob(job) != key) return std::nullopt;
  const auto found = services.ledger.state().jobs.find(job);
  if (found == services.ledger.state().jobs.end()) return std::nullopt;
  if (model::is_terminal(found->second.status) || !services.logs.open(job)) return std::nullopt;
  return job;
}

store::Blob blob_of_growing_log(const Services& services, const model::JobKey& job) {
  const model::Job& state = services.ledger.state().jobs.at(job);
  store::Blob blob{.key = log_blob(job), .content_type = "text/plain; charset=utf-8"};
  if (const auto log = services.logs.open(job)) blob.size = log->length;
  blob.etag = fmt::format("0xLIVE{}", state.attempt);
  blob.created_at = state.started_at.value_or(state.created_at);
  blob.modified_at = services.clock.now().wall;
  return blob;
}

}  // namespace berth::server
