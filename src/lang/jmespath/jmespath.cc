// SPDX-License-Identifier: Apache-2.0
#include "lang/jmespath/jmespath.h"

#include "lang/jmespath/evaluate.h"

namespace berth::lang::jmespath {

Result<Expression> compile(std::string_view text) {
  Node root = TRY(parse(text));
  return Expression{.text = std::string(text), .root = std::move(root)};
}

Result<boost::json::value> search(const Expression& expression,
                                  const boost::json::value& document) {
  Evaluator evaluator(expression.text);
  // The document stays where it is; only what is found is copied.
  return *TRY(evaluator.evaluate(expression.root, Value(Value(), &document)));
}

}  // namespace berth::lang::jmespath
