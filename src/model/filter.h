// SPDX-License-Identifier: Apache-2.0
// What a search asks for, whoever's language it was asked in: comparisons that must all hold, and
// an order.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace berth::model {

enum class Entity { Attribute, Metric, Param, Tag, Dataset };

enum class Operator {
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Like,   ///< '%' is any text, '_' any character; heeds case.
  ILike,  ///< The same, and case does not matter.
  In,
  NotIn,
  IsNull,
  IsNotNull,
};

/// One comparison. A metric and an attribute that is a number are compared with a double, In and
/// NotIn with a list, IsNull and IsNotNull with nothing, and all else with a text.
struct Comparison {
  Entity entity = Entity::Attribute;
  std::string key{};  ///< Of an attribute: its one canonical name.
  Operator op = Operator::Equal;
  std::variant<std::monostate, std::string, double, std::vector<std::string>> value{};
};

/// All must hold; none is no condition.
using Filter = std::vector<Comparison>;

struct Ordering {
  Entity entity = Entity::Attribute;
  std::string key{};
  bool is_ascending = true;
};

}  // namespace berth::model
