// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "store/blob.h"

namespace berth::server {

/// The blob's entity tag, in quotes.
std::string etag_of(const store::Blob& blob);

}  // namespace berth::server
