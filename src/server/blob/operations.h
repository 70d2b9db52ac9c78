// SPDX-License-Identifier: Apache-2.0
// The operations on blobs, once a request is allowed. Their errors come from fail_blob().
#pragma once

#include "base/result.h"
#include "server/blob/access.h"
#include "server/door/call.h"

namespace berth::server {

/// Get Blob, Get Blob Properties, Get Blob Metadata.
Result<io::Reply> read_blob(const Call& call, const BlobRequest& request);

Result<io::Reply> put_blob(Call& call, const BlobRequest& request);
Result<io::Reply> put_block(Call& call, const BlobRequest& request);
Result<io::Reply> put_block_list(Call& call, const BlobRequest& request);
Result<io::Reply> set_blob_metadata(Call& call, const BlobRequest& request);
Result<io::Reply> delete_blob(Call& call, const BlobRequest& request);

Result<io::Reply> list_blobs(const Call& call, const BlobRequest& request);

/// If-Match and If-None-Match against what is there (null: nothing). True: go on. False: the client
/// has this very version already (304), which only readers can be told.
Result<bool> check_conditions(const io::RequestHead& head, const store::Blob* existing,
                              bool is_reading);

}  // namespace berth::server
