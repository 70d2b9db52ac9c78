// SPDX-License-Identifier: Apache-2.0
// Opening paths that cannot leave a directory: what io::Root is made of.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/files/file.h"

namespace berth::io {

/// The segments of a relative path. Refuses an absolute one, "..", "." and empty segments, and NUL;
/// one trailing '/' is allowed.
Result<std::vector<std::string_view>> checked_segments(std::string_view relative);

/// open() that follows no link and never leaves `directory`.
Result<Descriptor> open_beneath(int directory, std::string_view relative, int flags,
                                unsigned mode = 0);

/// The same for kernels without openat2.
Result<Descriptor> open_beneath_by_segment(int directory, std::string_view relative, int flags,
                                           unsigned mode = 0);

}  // namespace berth::io
