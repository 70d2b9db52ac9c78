// SPDX-License-Identifier: Apache-2.0
// JMESPath, the language of --query: https://jmespath.org/specification.html.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "lang/jmespath/syntax.h"

namespace berth::lang::jmespath {

/// An expression that is known to be well-formed.
struct Expression {
  std::string text{};
  Node root{};
};

/// Messages begin with what is wrong in the words of the specification (syntax, unknown-function or
/// invalid-arity) and the character at which it is.
Result<Expression> compile(std::string_view text);

/// What the expression finds; null when that is nothing. Fails with invalid-type or invalid-value
/// when a function cannot do with what it was given. Objects keep the order of their members, and
/// `{b: …, a: …}` makes one with b first.
Result<boost::json::value> search(const Expression& expression, const boost::json::value& document);

}  // namespace berth::lang::jmespath
