// SPDX-License-Identifier: Apache-2.0
#include "lang/arm_template/value.h"

#include <fmt/format.h>

#include "base/text.h"

namespace berth::lang::arm_template {
namespace {

constexpr std::size_t kEach = 32;  // Roughly what a value costs besides its text.
constexpr int kDeepest = 64;
constexpr std::size_t kLongestText = 1u << 20;

/// What a value weighs; deeper than that weighs more than there is.
std::size_t weigh(const json::value& value, int depth, std::size_t most) {
  if (depth > kDeepest) return most + 1;
  std::size_t weight = kEach;
  if (value.is_string()) weight += value.get_string().size();
  if (const json::array* list = value.if_array()) {
    for (const json::value& element : *list) {
      weight += weigh(element, depth + 1, most);
      if (weight > most) break;
    }
  }
  if (const json::object* object = value.if_object()) {
    for (const auto& [key, member] : *object) {
      weight += key.size() + weigh(member, depth + 1, most);
      if (weight > most) break;
    }
  }
  return weight;
}

}  // namespace

std::string_view kind_of(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "true or false";
    case json::kind::int64:
    case json::kind::uint64: return "a whole number";
    case json::kind::double_: return "a number";
    case json::kind::string: return "text";
    case json::kind::array: return "a list";
    case json::kind::object: return "an object";
  }
  return "?";
}

const json::value* find_member(const json::object& object, std::string_view name) {
  if (const json::value* found = object.if_contains(name)) return found;
  for (const auto& [key, value] : object) {
    if (equals_ignoring_case({key.data(), key.size()}, name)) return &value;
  }
  return nullptr;
}

std::string to_text(const json::value& value) {
  if (value.is_string()) return std::string(text_of(value));
  if (value.is_bool()) return value.get_bool() ? "True" : "False";
  if (value.is_null()) return "";
  if (value.is_double()) return fmt::format("{}", value.get_double());
  return json::serialize(value);
}

Status Budget::spend(std::size_t amount) {
  if (amount > left_) {
    left_ = 0;
    return fail(Code::TooLarge, "the template makes too much: it is too large or too deep");
  }
  left_ -= amount;
  return Done{};
}

Status Budget::spend(const json::value& value) {
  if (value.is_string() && value.get_string().size() > kLongestText) {
    return fail(Code::TooLarge, fmt::format("a text has at most {} bytes", kLongestText));
  }
  return spend(weigh(value, 0, left_));
}

}  // namespace berth::lang::arm_template
