// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "model/size.h"

namespace berth::server {

/// The sizes that are built in and the operator's: those of `file`, or, when that is empty, of
/// <home>/sizes.yml if there is one. A file that is broken is an error with its place.
Result<model::SizeCatalogue> load_sizes(const std::string& home, const std::string& file);

}  // namespace berth::server
