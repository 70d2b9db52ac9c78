// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/place.h"

namespace berth::cli {

/// The JSON object in a file, comments and all; errors begin with its name.
Result<boost::json::object> read_template_file(const Place& place, const std::string& file);

/// What -p was given, for the parameters that the template declares: {"name": {"value"}}. Each word
/// is key=value, a parameter file with or without '@', or JSON; what comes later counts.
Result<boost::json::object> template_parameters(const Place& place,
                                                const boost::json::object& definition,
                                                const std::vector<std::string>& words);

}  // namespace berth::cli
