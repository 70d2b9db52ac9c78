// SPDX-License-Identifier: Apache-2.0
// Who may do what with which blob, decided on a request's head alone.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "server/blob/error.h"
#include "server/door/call.h"
#include "server/door/route.h"
#include "server/keys/signer.h"
#include "store/blob.h"

namespace berth::server {

enum class BlobOperation {
  Get,
  Properties,
  GetMetadata,
  Put,
  PutBlock,
  PutBlockList,
  SetMetadata,
  Delete,
  List,
  ContainerProperties,
  MakeContainer,
  Unknown,
};

/// The method and `comp`/`restype` say which operation it is.
BlobOperation operation_of(std::string_view method,
                           const std::vector<std::pair<std::string, std::string>>& query);

/// The headers in which a client may say what the MD5 of its body is.
inline constexpr const char* kMd5Headers[] = {"Content-MD5", "x-ms-blob-content-md5"};

/// Must the body's MD5 be known? To check what the client claims, and as a property of a blob that
/// comes in one piece. Blocks, of which large blobs are made, are spared it.
bool wants_md5(const io::RequestHead& head);

/// What is asked, with the grant that allows it.
struct BlobRequest {
  BlobOperation operation = BlobOperation::Unknown;
  /// A blob; or, for containers, the folder that is addressed as one (path empty: the whole).
  store::BlobKey target{};
  Grant grant{};
};

/// The workspace that a blob's address names.
model::WorkspaceId workspace_of_blob(const Match& match);

/// Checks the signature of a request: that it is ours, not expired, for this container and path,
/// for what is asked, and that whoever it was given to is still somebody. Called before any of the
/// body is read.
Result<Principal> admit_blob(const io::RequestHead& head, const Match& match,
                             const Services& services);

/// The same again for the handler, which learns what it was that was allowed. Who came with a
/// token needs no signature.
Result<BlobRequest> open_blob_request(const Call& call);

}  // namespace berth::server
