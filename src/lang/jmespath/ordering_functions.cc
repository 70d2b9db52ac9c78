// SPDX-License-Identifier: Apache-2.0
// sort, min and max, by value and by what an expression says of each element.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lang/jmespath/evaluate.h"
#include "lang/jmespath/function.h"

namespace berth::lang::jmespath {
namespace {

namespace json = boost::json;

Result<Value> sort(const FunctionCall& call) {
  json::array sorted = call.array(0);
  std::stable_sort(sorted.begin(), sorted.end(), is_less);
  return make_value(std::move(sorted));
}

Result<Value> smallest(const FunctionCall& call) {
  const json::array& array = call.array(0);
  if (array.empty()) return nothing();
  return make_value(*std::ranges::min_element(array, is_less));
}

Result<Value> largest(const FunctionCall& call) {
  const json::array& array = call.array(0);
  if (array.empty()) return nothing();
  return make_value(*std::ranges::max_element(array, is_less));
}

/// What the expression says of each element: all numbers, or all strings.
Result<std::vector<Value>> keys_of(const FunctionCall& call) {
  std::vector<Value> keys;
  for (const json::value& element : call.array(0)) {
    Value key = TRY(call.evaluator.evaluate(*call.arguments[1].reference,
                                            part_of(call.arguments[0].value, element)));
    const bool can_be_ordered = key->is_number() || key->is_string();
    if (!can_be_ordered || (!keys.empty() && type_of(*keys[0]) != type_of(*key))) {
      return call.evaluator.error(
          "invalid-type", call.node,
          fmt::format("{}() needs a number of each element, or a string of each, but has {}",
                      call.node.text, type_of(*key)));
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

Result<Value> sort_by(const FunctionCall& call) {
  const std::vector<Value> keys = TRY(keys_of(call));
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t left, std::size_t right) {
    return is_less(*keys[left], *keys[right]);
  });
  json::array sorted;
  for (const std::size_t index : order) sorted.push_back(call.array(0)[index]);
  return make_value(std::move(sorted));
}

/// The first element whose key no other one's beats.
Result<Value> best_by(const FunctionCall& call,
                      bool (*beats)(const json::value&, const json::value&)) {
  const std::vector<Value> keys = TRY(keys_of(call));
  if (keys.empty()) return nothing();
  std::size_t best = 0;
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (beats(*keys[i], *keys[best])) best = i;
  }
  return make_value(call.array(0)[best]);
}

Result<Value> min_by(const FunctionCall& call) { return best_by(call, is_less); }

Result<Value> max_by(const FunctionCall& call) {
  return best_by(
      call, [](const json::value& left, const json::value& right) { return is_less(right, left); });
}

}  // namespace

std::span<const Function> ordering_functions() {
  static const std::vector<Function> functions = {
      {"max", {kNumbers | kStrings}, largest},  {"max_by", {kArray, kReference}, max_by},
      {"min", {kNumbers | kStrings}, smallest}, {"min_by", {kArray, kReference}, min_by},
      {"sort", {kNumbers | kStrings}, sort},    {"sort_by", {kArray, kReference}, sort_by},
  };
  return functions;
}

}  // namespace berth::lang::jmespath
