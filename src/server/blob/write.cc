// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "base/digest.h"
#include "base/random.h"
#include "base/text.h"
#include "server/blob/etag.h"
#include "server/blob/operations.h"
#include "server/plane/ledger.h"
#include "server/storage/storage_keeper.h"
#include "wire/blob/block_list.h"

namespace berth::server {
namespace {

using store::Blob;
using store::Piece;

constexpr std::size_t kMostMetadata = 8 * 1024;
constexpr std::size_t kLargestBlockList = 6u
                                          << 20;  // wire::blob::kMostBlocks of the longest entries.
constexpr std::size_t kLongestBlockId = 64;

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
  };
  return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, [&](char letter) {
    return is_letter(letter) || (letter >= '0' && letter <= '9');
  });
}

/// x-ms-meta-*, names as spelled. They become tags of the listing's XML, hence the rule for names.
Result<std::map<std::string, std::string>> metadata_of(const io::RequestHead& head) {
  constexpr std::string_view kStart = "x-ms-meta-";
  std::map<std::string, std::string> metadata;
  std::size_t size = 0;
  for (const auto& [header, value] : head.headers) {
    if (!starts_with_ignoring_case(header, kStart)) continue;
    const std::string name = header.substr(kStart.size());
    if (!is_identifier(name)) {
      return fail_blob("InvalidMetadata", "a metadata name has letters, digits and '_' only");
    }
    size += name.size() + value.size();
    metadata[name] = to_valid_utf8(value);
  }
  if (size > kMostMetadata) return fail_blob("InvalidMetadata", "more than 8 KiB of metadata");
  return metadata;
}

struct Content {
  std::vector<Piece> pieces{};
  std::uint64_t size = 0;
  std::string md5{};  ///< Base64; empty when nobody wanted it.
};

Status check_md5(const io::RequestHead& head, const std::string& actual) {
  for (const char* name : kMd5Headers) {
    const std::string_view claimed = io::header(head.headers, name);
    if (claimed.empty()) continue;
    const Result<std::string> bytes = from_base64(claimed);
    if (!bytes || bytes->size() != 16) {
      return fail_blob("InvalidMd5", fmt::format("{} is not the base64 of an MD5", name));
    }
    if (to_base64(*bytes) != actual) {
      return fail_blob("Md5Mismatch", fmt::format("the content does not match {}", name));
    }
  }
  return Done{};
}

std::string md5_of_nothing() { return to_base64(Digest(Digest::Algorithm::Md5).finish()); }

/// The body, checked and made an object. What is refused leaves nothing behind.
Result<Content> take_content(Call& call) {
  std::optional<io::SpooledBody>& body = call.request.spooled;
  CHECK(body || call.request.body.empty(), "bodies of blob routes are spooled");
  if (!body || body->size == 0) {
    TRY(check_md5(call.request.head, md5_of_nothing()));
    return Content{.md5 = md5_of_nothing()};
  }
  Content content{.size = body->size, .md5 = to_base64(body->md5)};
  TRY(check_md5(call.request.head, content.md5));
  const std::string name = to_hex(body->sha256);
  TRY(call.services.objects.adopt(std::move(body->file), name));
  content.pieces = {{name, body->size}};
  return content;
}

/// The blob that is there, unless the request's conditions or permissions forbid to replace it.
Result<std::optional<Blob>> find_replaceable(const Call& call, const BlobRequest& request) {
  std::optional<Blob> existing = TRY(call.services.store.blob(request.target));
  TRY(check_conditions(call.request.head, existing ? &*existing : nullptr, false));
  if (existing && !permits(request.grant, 'w')) {
    return fail_blob("AuthorizationPermissionMismatch",
                     "the signature allows to create blobs, not to replace them");
  }
  return existing;
}

std::string new_etag() { return "\"0x" + random_hex(8) + "\""; }

io::Reply written(int status, const Blob& blob) {
  io::Reply reply{.status = status,
                  .headers = {{"ETag", etag_of(blob)},
                              {"Last-Modified", to_http_date(blob.modified_at)},
                              {"x-ms-request-server-encrypted", "true"}},
                  .content_type = ""};
  if (!blob.content_md5.empty()) reply.headers.emplace_back("Content-MD5", blob.content_md5);
  return reply;
}

/// A blob in place of what was there, without content yet.
Result<Blob> successor(const Call& call, const BlobRequest& request,
                       const std::optional<Blob>& existing) {
  Blob blob{.key = request.target, .etag = new_etag()};
  blob.metadata = TRY(metadata_of(call.request.head));
  blob.modified_at = call.services.clock.now().wall;
  blob.created_at = existing ? existing->created_at : blob.modified_at;
  const std::string_view type = io::header(call.request.head.headers, "x-ms-blob-content-type");
  if (!type.empty()) blob.content_type = type;
  return blob;
}

Result<std::string> block_id_of(const Call& call) {
  std::string id = call.query_value("blockid");
  const Result<std::string> bytes = from_base64(id);
  if (!bytes || bytes->empty() || bytes->size() > kLongestBlockId) {
    return fail_blob("InvalidBlockId", "blockid is not the base64 of 1 to 64 bytes");
  }
  return id;
}

Result<std::string> read_block_list(const Call& call) {
  const std::optional<io::SpooledBody>& body = call.request.spooled;
  if (!body) return call.request.body;
  if (body->size > kLargestBlockList) return fail_blob("InvalidBlockList", "it is too long");
  return io::read_file(body->file.path(), kLargestBlockList);
}

}  // namespace

Result<io::Reply> put_blob(Call& call, const BlobRequest& request) {
  const io::Headers& headers = call.request.head.headers;
  if (!io::header(headers, "x-ms-copy-source").empty()) {
    return fail_blob("NotImplemented", "copying blobs is not supported yet");
  }
  const std::string_view type = io::header(headers, "x-ms-blob-type");
  if (!type.empty() && !equals_ignoring_case(type, "BlockBlob")) {
    return fail_blob("InvalidHeaderValue", "only block blobs are supported");
  }
  const auto existing = TRY(find_replaceable(call, request));
  Blob blob = TRY(successor(call, request, existing));
  const std::string_view content_type = io::header(headers, "Content-Type");
  if (io::header(headers, "x-ms-blob-content-type").empty() && !content_type.empty()) {
    blob.content_type = content_type;
  }
  Content content = TRY(take_content(call));
  blob.pieces = std::move(content.pieces);
  blob.size = content.size;
  blob.content_md5 = std::move(content.md5);
  io::Reply reply = written(201, blob);
  call.services.ledger.write({store::DropBlocks{blob.key}, store::PutBlob{std::move(blob)}});
  return reply;
}

Result<io::Reply> put_block(Call& call, const BlobRequest& request) {
  std::string id = TRY(block_id_of(call));
  const Content content = TRY(take_content(call));
  if (content.size == 0) return fail_blob("InvalidHeaderValue", "a block is not empty");
  call.services.ledger.write({store::PutBlock{{.key = request.target,
                                               .id = std::move(id),
                                               .piece = content.pieces.front(),
                                               .created_at = call.services.clock.now().wall}}});
  io::Reply reply{
      .status = 201, .headers = {{"x-ms-request-server-encrypted", "true"}}, .content_type = ""};
  if (!content.md5.empty()) reply.headers.emplace_back("Content-MD5", content.md5);
  return reply;
}

/// Blocks are kept after the commit, so that a client whose answer was lost may send its list
/// again; they go when the blob is written whole, or deleted. So there is one set of blocks, and it
/// does not matter which one an entry asks for.
Result<io::Reply> put_block_list(Call& call, const BlobRequest& request) {
  const auto entries = TRY(wire::blob::parse_block_list(TRY(read_block_list(call))));
  const auto existing = TRY(find_replaceable(call, request));
  Blob blob = TRY(successor(call, request, existing));
  std::map<std::string, Piece> pieces;
  for (store::Block& block : TRY(call.services.store.blocks(request.target))) {
    pieces[block.id] = std::move(block.piece);
  }
  for (const wire::blob::BlockListEntry& entry : entries) {
    const auto found = pieces.find(entry.id);
    if (found == pieces.end()) {
      return fail_blob("InvalidBlockList", "the list names a block that was not uploaded");
    }
    blob.pieces.push_back(found->second);
    blob.size += found->second.size;
  }
  blob.content_md5 = io::header(call.request.head.headers, "x-ms-blob-content-md5");
  io::Reply reply = written(201, blob);
  call.services.ledger.write({store::PutBlob{std::move(blob)}});
  return reply;
}

Result<io::Reply> set_blob_metadata(Call& call, const BlobRequest& request) {
  std::optional<Blob> blob = TRY(call.services.store.blob(request.target));
  if (!blob) return fail_blob("BlobNotFound", "there is no such blob");
  TRY(check_conditions(call.request.head, &*blob, false));
  blob->metadata = TRY(metadata_of(call.request.head));
  blob->etag = new_etag();
  blob->modified_at = call.services.clock.now().wall;
  io::Reply reply = written(200, *blob);
  call.services.ledger.write({store::PutBlob{*std::move(blob)}});
  return reply;
}

Result<io::Reply> delete_blob(Call& call, const BlobRequest& request) {
  const std::optional<Blob> blob = TRY(call.services.store.blob(request.target));
  if (!blob) return fail_blob("BlobNotFound", "there is no such blob");
  TRY(check_conditions(call.request.head, &*blob, false));
  call.services.ledger.write({store::DropBlocks{blob->key}, store::DeleteBlob{blob->key}});
  if (call.services.storage != nullptr) call.services.storage->files_went();
  return io::Reply{.status = 202, .content_type = ""};
}

}  // namespace berth::server
