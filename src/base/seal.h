// SPDX-License-Identifier: Apache-2.0
// Secrets that must be kept for a while: encrypted and authenticated (AES-256-GCM).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

/// As base64; another text each time. The key is hashed, so it may be of any length.
std::string seal(std::string_view key, std::string_view secret);
/// Internal when it was sealed with another key, or is not as it was.
Result<std::string> unseal(std::string_view key, std::string_view sealed);

}  // namespace berth
