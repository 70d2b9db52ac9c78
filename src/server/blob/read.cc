// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "server/blob/etag.h"
#include "server/blob/job_log.h"
#include "server/blob/operations.h"
#include "server/fleet/log_store.h"
#include "wire/blob/range.h"

namespace berth::server {
namespace {

using store::Blob;

/// A blob and where its bytes are.
struct Source {
  Blob blob{};
  std::optional<io::FileRange> growing{};  ///< Of a log that is not sealed yet.
};

Result<Source> find_source(const Services& services, const store::BlobKey& key) {
  if (const auto job = growing_log(services, key)) {
    return Source{blob_of_growing_log(services, *job), services.logs.open(*job)};
  }
  std::optional<Blob> blob = TRY(services.store.blob(key));
  if (!blob) return fail_blob("BlobNotFound", "there is no such blob");
  return Source{*std::move(blob), std::nullopt};
}

io::Headers headers_of(const Blob& blob) {
  io::Headers headers = {{"ETag", etag_of(blob)},
                         {"Last-Modified", to_http_date(blob.modified_at)},
                         {"Accept-Ranges", "bytes"},
                         {"x-ms-blob-type", "BlockBlob"},
                         {"x-ms-creation-time", to_http_date(blob.created_at)},
                         {"x-ms-lease-status", "unlocked"},
                         {"x-ms-lease-state", "available"},
                         {"x-ms-server-encrypted", "true"},
                         // Whatever a job wrote, a browser must not run it as a page of ours.
                         {"Content-Security-Policy", "default-src 'none'; sandbox"},
                         {"Content-Disposition", "attachment"},
                         {"X-Content-Type-Options", "nosniff"}};
  for (const auto& [name, value] : blob.metadata) headers.emplace_back("x-ms-meta-" + name, value);
  return headers;
}

/// The whole blob's hash, under a name that says so when only a part is sent.
void add_md5(io::Reply& reply, const Blob& blob, const char* name) {
  if (!blob.content_md5.empty()) reply.headers.emplace_back(name, blob.content_md5);
}

std::string_view range_header(const io::RequestHead& head) {
  const std::string_view own = io::header(head.headers, "x-ms-range");
  return own.empty() ? io::header(head.headers, "Range") : own;
}

Result<std::vector<io::FileRange>> files_of(const Services& services, const Source& source,
                                            const wire::blob::ByteRange& range) {
  if (!source.growing) return open_range(services.objects, source.blob, range.first, range.length);
  return std::vector<io::FileRange>{
      {source.growing->file, source.growing->offset + range.first, range.length}};
}

}  // namespace

Result<io::Reply> read_blob(const Call& call, const BlobRequest& request) {
  const Source source = TRY(find_source(call.services, request.target));
  const Blob& blob = source.blob;
  io::Reply reply{.headers = headers_of(blob), .content_type = blob.content_type};
  if (!TRY(check_conditions(call.request.head, &blob, true))) {
    reply.status = 304;
    return reply;
  }
  if (request.operation == BlobOperation::GetMetadata) return reply;

  if (request.operation == BlobOperation::Properties) {
    add_md5(reply, blob, "Content-MD5");
    reply.head_length = blob.size;
    return reply;
  }
  wire::blob::ByteRange range{0, blob.size};
  if (const auto part = TRY(wire::blob::parse_range(range_header(call.request.head), blob.size))) {
    range = *part;
    reply.status = 206;
    reply.headers.emplace_back(
        "Content-Range",
        fmt::format("bytes {}-{}/{}", range.first, range.first + range.length - 1, blob.size));
  }
  add_md5(reply, blob, reply.status == 206 ? "x-ms-blob-content-md5" : "Content-MD5");
  reply.files = TRY(files_of(call.services, source, range));
  return reply;
}

namespace {

/// Does the list of entity tags ("a", W/"b", *) name this blob?
bool names(std::string_view tags, const Blob* blob) {
  if (blob == nullptr) return false;
  const std::string own = etag_of(*blob);
  for (std::string_view tag : split(tags, ',')) {
    tag = trim(tag);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == "*" || tag == own || tag == std::string_view(own).substr(1, own.size() - 2)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<bool> check_conditions(const io::RequestHead& head, const Blob* existing, bool is_reading) {
  const std::string_view match = io::header(head.headers, "If-Match");
  if (!match.empty() && !names(match, existing)) {
    return fail_blob("ConditionNotMet", "the blob is not the version that If-Match names");
  }
  const std::string_view none_match = io::header(head.headers, "If-None-Match");
  if (none_match.empty() || !names(none_match, existing)) return true;
  if (is_reading) return false;
  if (trim(none_match) == "*") return fail_blob("BlobAlreadyExists", "the blob exists");
  return fail_blob("ConditionNotMet", "the blob is the version that If-None-Match names");
}

}  // namespace berth::server
