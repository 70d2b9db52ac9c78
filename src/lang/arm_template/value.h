// SPDX-License-Identifier: Apache-2.0
// What expressions work with: JSON, as templates have it.
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::lang::arm_template {

namespace json = boost::json;

/// "text", "a whole number", "an object", …
std::string_view kind_of(const json::value& value);

/// Names of parameters, variables and members match in any case, the exact one first.
const json::value* find_member(const json::object& object, std::string_view name);

inline std::string_view text_of(const json::value& value) {
  const json::string& text = value.get_string();
  return {text.data(), text.size()};
}

/// As string() and concat() write it: True, 12, {"a":1}.
std::string to_text(const json::value& value);

/// What evaluating may cost all in all: memory that is filled, and so time. A hostile template is
/// refused when it has used it up.
class Budget {
 public:
  /// For a value that was made or copied. Refuses those that are too large or too deep, too.
  Status spend(const json::value& value);
  Status spend(std::size_t amount);

 private:
  std::size_t left_ = 32u << 20;
};

}  // namespace berth::lang::arm_template
