// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/place.h"

namespace berth::cli {

/// The words with `@FILE` and `key=@FILE` replaced by what the file holds, as `az` does; `@-` is
/// stdin. What names no file stays as it is.
std::vector<std::string> with_files_read(std::span<const std::string> words, const Place& place);

}  // namespace berth::cli
