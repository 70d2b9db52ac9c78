// SPDX-License-Identifier: Apache-2.0
// Errors as Azure's blob service words them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "io/message/http.h"

namespace berth::server {

/// An Error whose target is the service's own name for it ("BlobNotFound"), which decides the
/// status.
tl::unexpected<Error> fail_blob(std::string_view storage_code, std::string message);

/// The status and x-ms-error-code of an error, with the XML body that goes with them. Errors that
/// did not come from fail_blob() get the name of their kind.
io::Reply blob_error_reply(const Error& error);

}  // namespace berth::server
