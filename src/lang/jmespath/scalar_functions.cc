// SPDX-License-Identifier: Apache-2.0
// Functions of numbers, strings, and of any single value.
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "lang/jmespath/function.h"

namespace berth::lang::jmespath {
namespace {

namespace json = boost::json;

/// A whole number where one fits: ceil(1.2) is 2, not 2.0.
json::value whole(double number) {
  constexpr double kLimit = 9.2e18;
  if (std::abs(number) < kLimit) return static_cast<std::int64_t>(number);
  return number;
}

Result<Value> absolute(const FunctionCall& call) {
  const json::value& number = call.value(0);
  if (const auto* integer = number.if_int64(); integer != nullptr && *integer != INT64_MIN) {
    return make_value(std::abs(*integer));
  }
  return make_value(number.is_uint64() ? number : json::value(std::abs(as_double(number))));
}

Result<Value> ceiling(const FunctionCall& call) {
  if (!call.value(0).is_double()) return call.arguments[0].value;
  return make_value(whole(std::ceil(call.value(0).get_double())));
}

Result<Value> floor_of(const FunctionCall& call) {
  if (!call.value(0).is_double()) return call.arguments[0].value;
  return make_value(whole(std::floor(call.value(0).get_double())));
}

Result<Value> starts_with(const FunctionCall& call) {
  return make_value(call.text(0).starts_with(call.text(1)));
}

Result<Value> ends_with(const FunctionCall& call) {
  return make_value(call.text(0).ends_with(call.text(1)));
}

Result<Value> join(const FunctionCall& call) {
  std::string text;
  bool is_first = true;
  for (const json::value& element : call.array(1)) {
    if (!is_first) text += call.text(0);
    is_first = false;
    text += std::string_view(element.get_string());
  }
  return make_value(json::string(text));
}

Result<Value> to_string(const FunctionCall& call) {
  if (call.value(0).is_string()) return call.arguments[0].value;
  return make_value(json::string(to_text(call.value(0))));
}

template <typename Number>
bool reads(std::string_view text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

Result<Value> to_number(const FunctionCall& call) {
  if (call.value(0).is_number()) return call.arguments[0].value;
  if (!call.value(0).is_string()) return nothing();
  std::string_view text = trim(call.text(0));
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  std::int64_t integer = 0;
  if (reads(text, integer)) return make_value(integer);
  double number = 0;
  if (reads(text, number) && std::isfinite(number)) return make_value(number);
  return nothing();
}

Result<Value> type(const FunctionCall& call) {
  return make_value(json::string(type_of(call.value(0))));
}

Result<Value> not_null(const FunctionCall& call) {
  for (const Argument& argument : call.arguments) {
    if (!argument.value->is_null()) return argument.value;
  }
  return nothing();
}

}  // namespace

std::span<const Function> scalar_functions() {
  static const std::vector<Function> functions = {
      {"abs", {kNumber}, absolute},
      {"ceil", {kNumber}, ceiling},
      {"ends_with", {kString, kString}, ends_with},
      {"floor", {kNumber}, floor_of},
      {"join", {kString, kStrings}, join},
      {"not_null", {kAny}, not_null, true},
      {"starts_with", {kString, kString}, starts_with},
      {"to_number", {kAny}, to_number},
      {"to_string", {kAny}, to_string},
      {"type", {kAny}, type},
  };
  return functions;
}

}  // namespace berth::lang::jmespath
