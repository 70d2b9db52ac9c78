// SPDX-License-Identifier: Apache-2.0
// The text formats of `az`, character for character: scripts cut them apart.
#pragma once

#include <boost/json.hpp>
#include <span>
#include <string>

#include "cli/output/table.h"

namespace berth::cli {

/// The value with the members of every object in the order of their keys.
boost::json::value sorted(const boost::json::value& value);

/// Two spaces, keys sorted, letters as they are.
std::string to_json_text(const boost::json::value& value, bool colored = false);

/// A list has one line for each element, an object one column for each value, in the order in which
/// it has them; a nested list shows its length, a nested object nothing.
std::string to_tsv_text(const boost::json::value& value);

/// Every scalar by the name of its key; empty when there is none.
Table automatic_table(std::span<const boost::json::value> rows);

/// A scalar as people and scripts read it: text without quotes, Python's True, False and None.
std::string scalar_text(const boost::json::value& value);

}  // namespace berth::cli
