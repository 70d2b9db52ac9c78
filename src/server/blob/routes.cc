// SPDX-License-Identifier: Apache-2.0
// The part of Azure's blob protocol that uploads and downloads need.
#include "base/random.h"
#include "server/blob/operations.h"
#include "server/door/route.h"

namespace berth::server {
namespace {

constexpr const char* kProtocolVersion = "2021-08-06";

io::Reply container_properties() {
  return {.headers = {{"ETag", "\"0x1\""},
                      {"Last-Modified", to_http_date(WallTime())},
                      {"x-ms-lease-status", "unlocked"},
                      {"x-ms-lease-state", "available"},
                      {"x-ms-has-immutability-policy", "false"},
                      {"x-ms-has-legal-hold", "false"}},
          .content_type = ""};
}

Result<io::Reply> perform(Call& call) {
  const BlobRequest request = TRY(open_blob_request(call));
  switch (request.operation) {
    case BlobOperation::Get:
    case BlobOperation::Properties:
    case BlobOperation::GetMetadata: return read_blob(call, request);
    case BlobOperation::Put: return put_blob(call, request);
    case BlobOperation::PutBlock: return put_block(call, request);
    case BlobOperation::PutBlockList: return put_block_list(call, request);
    case BlobOperation::SetMetadata: return set_blob_metadata(call, request);
    case BlobOperation::Delete: return delete_blob(call, request);
    case BlobOperation::List: return list_blobs(call, request);
    case BlobOperation::ContainerProperties: return container_properties();
    case BlobOperation::MakeContainer:
      return fail_blob("ContainerAlreadyExists", "the container exists");
    case BlobOperation::Unknown: break;
  }
  return fail_blob("NotImplemented", "this operation of the blob service is not supported");
}

/// Storage clients read errors only in their own shape, so none leaves from here as ARM's.
Result<io::Reply> handle(Call& call) {
  Result<io::Reply> done = perform(call);
  io::Reply reply = done ? *std::move(done) : blob_error_reply(done.error());
  const io::RequestHead& head = call.request.head;
  if (head.method == "HEAD") reply.body.clear();
  reply.headers.emplace_back("x-ms-request-id", random_uuid());
  reply.headers.emplace_back("x-ms-version", kProtocolVersion);
  const std::string_view client_id = io::header(head.headers, "x-ms-client-request-id");
  if (!client_id.empty()) reply.headers.emplace_back("x-ms-client-request-id", client_id);
  return reply;
}

constexpr Permission signed_or(const char* action) { return {Permission::Kind::Signature, action}; }
constexpr Permission kRead =
    signed_or("Microsoft.MachineLearningServices/workspaces/metadata/artifacts/read");
constexpr Permission kWrite =
    signed_or("Microsoft.MachineLearningServices/workspaces/metadata/artifacts/write");
constexpr Permission kDelete =
    signed_or("Microsoft.MachineLearningServices/workspaces/metadata/artifacts/delete");

constexpr const char* kContainer = "/blob/{workspaceId}/{container}";
constexpr const char* kBlob = "/blob/{workspaceId}/{container}/{path...}";

constexpr Route kRoutes[] = {
    {"GET", kContainer, kRead, BodyKind::None, handle},
    {"HEAD", kContainer, kRead, BodyKind::None, handle},
    {"PUT", kContainer, kWrite, BodyKind::None, handle},
    {"GET", kBlob, kRead, BodyKind::None, handle},
    {"HEAD", kBlob, kRead, BodyKind::None, handle},
    {"PUT", kBlob, kWrite, BodyKind::Spooled, handle},
    {"DELETE", kBlob, kDelete, BodyKind::None, handle},
};

}  // namespace

std::span<const Route> blob_routes() { return kRoutes; }

}  // namespace berth::server
