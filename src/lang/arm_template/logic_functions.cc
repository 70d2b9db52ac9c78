// SPDX-License-Identifier: Apache-2.0
// Comparing, and true or false.
#include "base/text.h"
#include "lang/arm_template/functions.h"

namespace berth::lang::arm_template {
namespace {

bool is_number(const json::value& value) { return value.is_number(); }

Result<json::value> equals(const Arguments& given) {
  const json::value& left = given.values[0];
  const json::value& right = given.values[1];
  const bool is_inexact = left.is_double() || right.is_double();
  if (is_inexact && is_number(left) && is_number(right)) {
    return left.to_number<double>() == right.to_number<double>();
  }
  return left == right;
}

/// Below, at or above zero as the first is less, equal or greater.
Result<int> compare(const Arguments& given) {
  const json::value& left = given.values[0];
  const json::value& right = given.values[1];
  if (left.is_int64() && right.is_int64()) {
    return left.get_int64() < right.get_int64() ? -1 : left.get_int64() > right.get_int64();
  }
  if (is_number(left) && is_number(right)) {
    const double difference = left.to_number<double>() - right.to_number<double>();
    return difference < 0 ? -1 : difference > 0;
  }
  if (left.is_string() && right.is_string()) return text_of(left).compare(text_of(right));
  return given.wrong("compares two numbers or two texts");
}

Result<json::value> less(const Arguments& given) { return TRY(compare(given)) < 0; }
Result<json::value> less_or_equals(const Arguments& given) { return TRY(compare(given)) <= 0; }
Result<json::value> greater(const Arguments& given) { return TRY(compare(given)) > 0; }
Result<json::value> greater_or_equals(const Arguments& given) { return TRY(compare(given)) >= 0; }

Result<json::value> both(const Arguments& given) {
  bool result = true;
  for (std::size_t index = 0; index < given.size(); ++index) {
    const bool flag = TRY(given.flag(index));
    result = result && flag;
  }
  return result;
}

Result<json::value> either(const Arguments& given) {
  bool result = false;
  for (std::size_t index = 0; index < given.size(); ++index) {
    const bool flag = TRY(given.flag(index));
    result = result || flag;
  }
  return result;
}

Result<json::value> exactly_one(const Arguments& given) {
  const bool left = TRY(given.flag(0));
  return left != TRY(given.flag(1));
}

Result<json::value> negate(const Arguments& given) { return !TRY(given.flag(0)); }

Result<json::value> to_bool(const Arguments& given) {
  const json::value& value = given.values[0];
  if (value.is_bool()) return value;
  if (value.is_int64()) return value.get_int64() != 0;
  if (value.is_string()) {
    if (equals_ignoring_case(text_of(value), "true") || text_of(value) == "1") return true;
    if (equals_ignoring_case(text_of(value), "false") || text_of(value) == "0") return false;
  }
  return given.wrong("takes true, false, 'true', 'false' or a whole number");
}

Result<json::value> yes(const Arguments&) { return true; }
Result<json::value> no(const Arguments&) { return false; }
Result<json::value> nothing(const Arguments&) { return nullptr; }

Result<json::value> coalesce(const Arguments& given) {
  for (const json::value& value : given.values) {
    if (!value.is_null()) return value;
  }
  return nullptr;
}

constexpr Function kFunctions[] = {
    {"equals", 2, 2, equals},
    {"less", 2, 2, less},
    {"lessOrEquals", 2, 2, less_or_equals},
    {"greater", 2, 2, greater},
    {"greaterOrEquals", 2, 2, greater_or_equals},
    {"and", 2, kAnyNumber, both},
    {"or", 2, kAnyNumber, either},
    {"xor", 2, 2, exactly_one},
    {"not", 1, 1, negate},
    {"bool", 1, 1, to_bool},
    {"true", 0, 0, yes},
    {"false", 0, 0, no},
    {"null", 0, 0, nothing},
    {"coalesce", 1, kAnyNumber, coalesce},
};

}  // namespace

std::span<const Function> logic_functions() { return kFunctions; }

}  // namespace berth::lang::arm_template
