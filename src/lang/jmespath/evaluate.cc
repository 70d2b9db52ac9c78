// SPDX-License-Identifier: Apache-2.0
#include "lang/jmespath/evaluate.h"

#include <algorithm>

#include "lang/jmespath/function.h"

namespace berth::lang::jmespath {
namespace {

namespace json = boost::json;

constexpr std::size_t kMost = std::size_t{1} << 21;

Value field(const Node& node, const Value& current) {
  const json::object* object = current->if_object();
  const json::value* found = object == nullptr ? nullptr : object->if_contains(node.text);
  return found == nullptr ? nothing() : part_of(current, *found);
}

Value element(const Node& node, const Value& of) {
  const json::array* array = of->if_array();
  if (array == nullptr) return nothing();
  const auto size = static_cast<std::int64_t>(array->size());
  if (node.number < -size || node.number >= size) return nothing();
  const std::int64_t at = node.number < 0 ? node.number + size : node.number;
  return part_of(of, (*array)[static_cast<std::size_t>(at)]);
}

/// A bound of a slice, counted from the end if need be and kept between `least` and `most`.
std::int64_t bound(std::optional<std::int64_t> given, std::int64_t otherwise, std::int64_t size,
                   std::pair<std::int64_t, std::int64_t> range) {
  if (!given) return otherwise;
  const std::int64_t at = *given < 0 ? std::max(*given, -size - 1) + size : *given;
  return std::clamp(at, range.first, range.second);
}

/// Python's slices: with a negative step from the end to the beginning.
json::array sliced(const json::array& array, const Node& node, std::int64_t step) {
  const auto size = static_cast<std::int64_t>(array.size());
  const bool forward = step > 0;
  const std::pair<std::int64_t, std::int64_t> range =
      forward ? std::pair<std::int64_t, std::int64_t>(0, size)
              : std::pair<std::int64_t, std::int64_t>(-1, size - 1);
  const std::int64_t start =
      bound(node.bounds[0], forward ? range.first : range.second, size, range);
  const std::int64_t stop =
      bound(node.bounds[1], forward ? range.second : range.first, size, range);
  json::array result;
  // A step longer than the list takes its first element only; no sum can overflow then.
  const std::int64_t stride = std::clamp(step, -size - 1, size + 1);
  for (std::int64_t at = start; forward ? at < stop : at > stop; at += stride) {
    result.push_back(array[static_cast<std::size_t>(at)]);
  }
  return result;
}

bool holds(Token::Kind operation, const json::value& left, const json::value& right) {
  switch (operation) {
    case Token::Kind::Less: return is_less(left, right);
    case Token::Kind::LessOrEqual: return !is_less(right, left);
    case Token::Kind::Greater: return is_less(right, left);
    case Token::Kind::GreaterOrEqual: return !is_less(left, right);
    default: return false;
  }
}

}  // namespace

tl::unexpected<Error> Evaluator::error(std::string_view kind, const Node& node,
                                       std::string_view problem) const {
  return error_at(kind, expression_, node.at, problem);
}

Status Evaluator::spend(const Node& node, const json::value& value) {
  spent_ += weight_of(value);
  if (spent_ <= kMost) return Done{};
  return error("invalid-value", node, "the answer becomes too large");
}

Result<Value> Evaluator::evaluate(const Node& node, const Value& current) {
  using Kind = Node::Kind;
  switch (node.kind) {
    case Kind::Current: return current;
    case Kind::Field: return field(node, current);
    case Kind::Literal: return Value(Value(), &node.literal);
    case Kind::Index: return element(node, TRY(evaluate(node.children[0], current)));
    case Kind::Slice: return slice(node, current);
    case Kind::Chain:
    case Kind::Pipe: return evaluate(node.children[1], TRY(evaluate(node.children[0], current)));
    case Kind::Projection:
    case Kind::FilterProjection: return project(node, current);
    case Kind::ValueProjection: return project_values(node, current);
    case Kind::Flatten: return flatten(node, current);
    case Kind::MultiList: return multi_list(node, current);
    case Kind::MultiHash: return multi_hash(node, current);
    case Kind::Or:
    case Kind::And: {
      const Value left = TRY(evaluate(node.children[0], current));
      const bool decided = is_true(*left) == (node.kind == Kind::Or);
      return decided ? Result<Value>(left) : evaluate(node.children[1], current);
    }
    case Kind::Not: return make_value(!is_true(*TRY(evaluate(node.children[0], current))));
    case Kind::Comparison: return compare(node, current);
    case Kind::Function: return call_function(node, current);
    case Kind::Reference:
      return error("invalid-type", node, "an expression (&…) can only be a function's argument");
  }
  return nothing();
}

Result<Value> Evaluator::slice(const Node& node, const Value& current) {
  const std::int64_t step = node.bounds[2].value_or(1);
  if (step == 0) return error("invalid-value", node, "a slice cannot have the step 0");
  const Value of = TRY(evaluate(node.children[0], current));
  if (!of->is_array()) return nothing();
  TRY(spend(node, *of));
  return make_value(sliced(of->get_array(), node, step));
}

Status Evaluator::collect(const Node& node, const Value& element, json::array& into) {
  const Value result = TRY(evaluate(node.children[1], element));
  if (result->is_null()) return Done{};
  TRY(spend(node, *result));
  into.push_back(*result);
  return Done{};
}

Result<Value> Evaluator::project(const Node& node, const Value& current) {
  const Value of = TRY(evaluate(node.children[0], current));
  if (!of->is_array()) return nothing();
  json::array found;
  for (const json::value& each : of->get_array()) {
    const Value element = part_of(of, each);
    if (node.kind == Node::Kind::FilterProjection) {
      const Value passes = TRY(evaluate(node.children[2], element));
      if (!is_true(*passes)) continue;
    }
    TRY(collect(node, element, found));
  }
  return make_value(std::move(found));
}

Result<Value> Evaluator::project_values(const Node& node, const Value& current) {
  const Value of = TRY(evaluate(node.children[0], current));
  if (!of->is_object()) return nothing();
  json::array found;
  for (const auto& member : of->get_object()) {
    TRY(collect(node, part_of(of, member.value()), found));
  }
  return make_value(std::move(found));
}

Result<Value> Evaluator::flatten(const Node& node, const Value& current) {
  const Value of = TRY(evaluate(node.children[0], current));
  if (!of->is_array()) return nothing();
  TRY(spend(node, *of));
  json::array flat;
  for (const json::value& each : of->get_array()) {
    if (const json::array* inner = each.if_array()) {
      flat.insert(flat.end(), inner->begin(), inner->end());
    } else {
      flat.push_back(each);
    }
  }
  return make_value(std::move(flat));
}

Result<Value> Evaluator::multi_list(const Node& node, const Value& current) {
  if (current->is_null()) return nothing();
  json::array list;
  for (const Node& child : node.children) {
    const Value value = TRY(evaluate(child, current));
    TRY(spend(node, *value));
    list.push_back(*value);
  }
  return make_value(std::move(list));
}

Result<Value> Evaluator::multi_hash(const Node& node, const Value& current) {
  if (current->is_null()) return nothing();
  json::object object;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const Value value = TRY(evaluate(node.children[i], current));
    TRY(spend(node, *value));
    object[node.keys[i]] = *value;
  }
  return make_value(std::move(object));
}

Result<Value> Evaluator::compare(const Node& node, const Value& current) {
  const Value left = TRY(evaluate(node.children[0], current));
  const Value right = TRY(evaluate(node.children[1], current));
  if (node.operation == Token::Kind::Equal) return make_value(are_equal(*left, *right));
  if (node.operation == Token::Kind::NotEqual) return make_value(!are_equal(*left, *right));
  // The specification orders numbers only; `az` orders strings too, and scripts compare dates so.
  const bool has_order =
      (left->is_number() && right->is_number()) || (left->is_string() && right->is_string());
  return has_order ? make_value(holds(node.operation, *left, *right)) : nothing();
}

Result<Value> Evaluator::call_function(const Node& node, const Value& current) {
  FunctionCall function_call{.evaluator = *this, .node = node};
  for (const Node& child : node.children) {
    if (child.kind == Node::Kind::Reference) {
      function_call.arguments.push_back({.reference = &child.children[0]});
      continue;
    }
    Value value = TRY(evaluate(child, current));
    function_call.arguments.push_back({.value = std::move(value)});
  }
  const Value result = TRY(call(*find_function(node.text), function_call));
  TRY(spend(node, *result));
  return result;
}

}  // namespace berth::lang::jmespath
