// SPDX-License-Identifier: Apache-2.0
// YAML values as JSON, YAML's snake_case as ARM's camelCase, and back.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "wire/yaml/document.h"

namespace berth::wire::yaml {

/// Plain scalars become numbers, booleans and null where YAML 1.2 says so; quoted ones stay text.
boost::json::value to_json(const Node& node);

/// "process_count_per_instance" <-> "processCountPerInstance".
std::string to_camel_case(std::string_view snake);
std::string to_snake_case(std::string_view camel);

/// All keys, at every level, in the other spelling.
boost::json::value with_camel_keys(const boost::json::value& value);
boost::json::value with_snake_keys(const boost::json::value& value);

/// The node as YAML text, plain scalars exactly as they were written (`3.10` is not 3.1).
std::string to_yaml_text(const Node& node);

/// Whether YAML would read these plain letters as something other than this text.
bool needs_quotes(std::string_view text);

}  // namespace berth::wire::yaml
