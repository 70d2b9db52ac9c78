// SPDX-License-Identifier: Apache-2.0
// Files of certificate authorities for programs that take one such file instead of the system's.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::cli {

/// The certificates of both texts, each once; what is not a certificate is left out.
std::string joined_certificates(std::string_view first, std::string_view second);

/// Where this system keeps the authorities it trusts, as one file; empty when nowhere we know.
std::string system_authorities();

/// Writes `target` with all certificates of `sources` (those that can be read) and of
/// `authority_file`, unless it is like that already. True when at least one of the sources gave
/// some.
Result<bool> write_bundle(const std::string& target, std::span<const std::string> sources,
                          const std::string& authority_file);

}  // namespace berth::cli
