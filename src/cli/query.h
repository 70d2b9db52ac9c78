// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string_view>

#include "base/result.h"

namespace berth::cli {

/// Says what is wrong with an expression before anything is done for its sake.
Status check_query(std::string_view expression);

/// --query: the part of JMESPath that scripts use most: keys (`a.b`, `"a-b"`), `[0]`, `[-1]`, `[]`
/// and
/// `[*]` with what follows applied to each element. What is missing is null, as in JMESPath;
/// anything else of the language is refused as not supported yet.
Result<boost::json::value> query(const boost::json::value& value, std::string_view expression);

}  // namespace berth::cli
