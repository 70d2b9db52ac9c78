// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "lang/jmespath/syntax.h"
#include "lang/jmespath/value.h"

namespace berth::lang::jmespath {

/// Applies the parts of one expression to values. Neither expression nor document may go away
/// before what it found.
class Evaluator {
 public:
  explicit Evaluator(std::string_view expression) : expression_(expression) {}

  Result<Value> evaluate(const Node& node, const Value& current);

  /// Counts a value that is about to be copied. Refuses expressions whose answer doubles with each
  /// part before they fill the memory.
  Status spend(const Node& node, const boost::json::value& value);

  tl::unexpected<Error> error(std::string_view kind, const Node& node,
                              std::string_view problem) const;

 private:
  Result<Value> slice(const Node& node, const Value& current);
  Result<Value> project(const Node& node, const Value& current);
  Result<Value> project_values(const Node& node, const Value& current);
  Result<Value> flatten(const Node& node, const Value& current);
  Result<Value> multi_list(const Node& node, const Value& current);
  Result<Value> multi_hash(const Node& node, const Value& current);
  Result<Value> compare(const Node& node, const Value& current);
  Result<Value> call_function(const Node& node, const Value& current);
  /// Adds what children[1] makes of the element, unless that is null.
  Status collect(const Node& node, const Value& element, boost::json::array& into);

  std::string_view expression_;
  std::size_t spent_ = 0;
};

}  // namespace berth::lang::jmespath
