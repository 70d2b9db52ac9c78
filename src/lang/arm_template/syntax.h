// SPDX-License-Identifier: Apache-2.0
// The language inside "[…]" of an ARM template: calls, text, whole numbers, .members and [indices].
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::lang::arm_template {

/// One part of an expression. `at` counts characters from the '[' that begins the text.
struct Expression {
  enum class Kind {
    Text,
    Number,
    Call,    ///< `name` of `parts`.
    Member,  ///< parts[0].name
    Index,   ///< parts[0][parts[1]]
  };
  Kind kind = Kind::Text;
  std::size_t at = 0;
  std::string name{};  ///< Of a call or member; the text itself.
  std::int64_t number = 0;
  bool is_safe = false;  ///< ".?" and "[?": null where there is nothing.
  std::vector<Expression> parts{};
};

/// Is it to be evaluated? "[…]" is; "[[…]" stands for "[…]", and "[a] b" for itself.
bool is_expression(std::string_view text);
/// What a text that is no expression stands for.
std::string literal_of(std::string_view text);

/// Reads "[…]". Errors say where. Bounded in length and depth, so that what walks the result may
/// call itself.
Result<Expression> parse_expression(std::string_view text);

/// Calls back for every call in it, the outer ones first.
void for_each_call(const Expression& expression,
                   const std::function<void(const Expression&)>& found);

/// "at character 12 of '[concat(…'": the same words in every error.
std::string place_in(std::string_view text, std::size_t at);

}  // namespace berth::lang::arm_template
