// SPDX-License-Identifier: Apache-2.0
// Files of templates and of their parameters: JSON with comments, and texts of several lines.
#pragma once

#include <boost/json.hpp>
#include <string_view>

#include "base/result.h"

namespace berth::wire::arm {

/// Errors say "line 3, column 7".
Result<boost::json::value> value_from_template_file(std::string_view text);

}  // namespace berth::wire::arm
