// SPDX-License-Identifier: Apache-2.0
// Who may do what with which blob, decided on a request's head alone.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "server/blob_error.h"
#include "server/call.h"
#include "server/route.h"
#include "server/signer.h"
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

/// What is asked, with the grant that allows it.
struct BlobRequest {
  BlobOperation operation = BlobOperation::Unknown;
  /// A blob; or, for containers, the folder that is addressed as one (path empty: the whole).
  store::BlobKey target{};
  Grant grant{};
};

/// Checks the signature of a request whose sender is not the owner: that it is ours, not expired,
/// for this container and path, and for what is asked. Called before any of the body is read.
Status admit_blob(const io::RequestHead& head, const Match& match, const Services& services);

/// The same again for the handler, which learns what it was that was allowed. The owner needs no
/// signature.
Result<BlobRequest> open_blob_request(const Call& call);

}  // namespace berth::server
