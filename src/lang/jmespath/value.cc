// SPDX-License-Identifier: Apache-2.0
#include "lang/jmespath/value.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::lang::jmespath {

namespace json = boost::json;

Value make_value(json::value value) {
  return std::make_shared<const json::value>(std::move(value));
}

Value nothing() {
  static const Value null = make_value(nullptr);
  return null;
}

std::string_view type_of(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "boolean";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_: return "number";
    case json::kind::string: return "string";
    case json::kind::array: return "array";
    case json::kind::object: return "object";
  }
  return "null";
}

bool is_true(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return false;
    case json::kind::bool_: return value.get_bool();
    case json::kind::string: return !value.get_string().empty();
    case json::kind::array: return !value.get_array().empty();
    case json::kind::object: return !value.get_object().empty();
    default: return true;
  }
}

double as_double(const json::value& number) {
  if (const auto* integer = number.if_int64()) return static_cast<double>(*integer);
  if (const auto* natural = number.if_uint64()) return static_cast<double>(*natural);
  return number.get_double();
}

bool are_equal(const json::value& left, const json::value& right) {
  if (left.is_number() && right.is_number()) {
    if (left.is_int64() && right.is_int64()) return left.get_int64() == right.get_int64();
    return as_double(left) == as_double(right);
  }
  if (left.kind() != right.kind()) return false;
  if (const json::array* array = left.if_array()) {
    return std::ranges::equal(*array, right.get_array(), are_equal);
  }
  if (const json::object* object = left.if_object()) {
    const json::object& other = right.get_object();
    return object->size() == other.size() &&
           std::ranges::all_of(*object, [&](const json::key_value_pair& member) {
             const json::value* found = other.if_contains(member.key());
             return found != nullptr && are_equal(member.value(), *found);
           });
  }
  return left == right;
}

bool is_less(const json::value& left, const json::value& right) {
  // UTF-8 sorts by its bytes as it does by its characters.
  if (left.is_string()) {
    return std::string_view(left.get_string()) < std::string_view(right.get_string());
  }
  if (left.is_int64() && right.is_int64()) return left.get_int64() < right.get_int64();
  return as_double(left) < as_double(right);
}

std::string to_text(const json::value& value) {
  if (const double* number = value.if_double()) {
    const std::string text = fmt::format("{}", *number);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  std::string text;
  if (const json::array* array = value.if_array()) {
    for (const json::value& element : *array) text += (text.empty() ? "" : ",") + to_text(element);
    return fmt::format("[{}]", text);
  }
  const json::object* object = value.if_object();
  if (object == nullptr) return json::serialize(value);
  for (const auto& [key, member] : *object) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", json::serialize(key), to_text(member));
  }
  return fmt::format("{{{}}}", text);
}

std::size_t weight_of(const json::value& value) {
  constexpr std::size_t kBytesOfOne = 16;
  std::size_t weight = 1;
  if (const json::string* text = value.if_string()) weight += text->size() / kBytesOfOne;
  if (const json::array* array = value.if_array()) {
    for (const json::value& element : *array) weight += weight_of(element);
  }
  if (const json::object* object = value.if_object()) {
    for (const auto& [key, member] : *object) weight += 1 + weight_of(member);
  }
  return weight;
}

}  // namespace berth::lang::jmespath
