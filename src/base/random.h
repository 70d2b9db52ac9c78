// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace berth {

/// Cryptographically random bytes as lower-case hex: 2 * bytes characters. For tokens and names
/// that must not be guessed.
std::string random_hex(std::size_t bytes);

/// A random (version 4) UUID.
std::string random_uuid();

/// A uniform number below bound (> 0).
std::size_t random_below(std::size_t bound);

/// "witty_harbor_x2k9d7qp1z": how Azure ML names jobs nobody named.
std::string random_job_name();
/// "witty-harbor-x2k9": what people see when nobody chose a display name.
std::string random_display_name();

}  // namespace berth
