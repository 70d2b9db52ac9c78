// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <limits>

#include "base/text.h"
#include "lang/arm_template/functions.h"

namespace berth::lang::arm_template {
namespace {

constexpr std::int64_t kMostOfARange = 10'000;

template <bool (*operation)(std::int64_t, std::int64_t, std::int64_t*)>
Result<json::value> calculate(const Arguments& given) {
  std::int64_t result = 0;
  const std::int64_t left = TRY(given.number(0));
  if (operation(left, TRY(given.number(1)), &result)) {
    return given.wrong("the result is no whole number of 64 bits");
  }
  return result;
}

bool add(std::int64_t left, std::int64_t right, std::int64_t* result) {
  return __builtin_add_overflow(left, right, result);
}
bool subtract(std::int64_t left, std::int64_t right, std::int64_t* result) {
  return __builtin_sub_overflow(left, right, result);
}
bool multiply(std::int64_t left, std::int64_t right, std::int64_t* result) {
  return __builtin_mul_overflow(left, right, result);
}
bool divide(std::int64_t left, std::int64_t right, std::int64_t* result) {
  if (right == 0 || (right == -1 && left == std::numeric_limits<std::int64_t>::min())) return true;
  *result = left / right;
  return false;
}
bool remainder(std::int64_t left, std::int64_t right, std::int64_t* result) {
  if (right == 0) return true;
  *result = right == -1 ? 0 : left % right;
  return false;
}

Result<json::value> to_int(const Arguments& given) {
  const json::value& value = given.values[0];
  if (value.is_int64()) return value;
  if (value.is_string()) {
    const std::string_view text = trim(text_of(value));
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, failed] = std::from_chars(text.data(), end, number);
    if (failed == std::errc() && stopped == end) return number;
    return given.wrong("the text is not a whole number");
  }
  const bool is_near =
      value.is_double() && value.get_double() > -9.2e18 && value.get_double() < 9.2e18;
  if (is_near) return static_cast<std::int64_t>(value.get_double());
  return given.wrong(0, "a whole number, or text that is one");
}

Result<json::value> to_float(const Arguments& given) {
  const json::value& value = given.values[0];
  if (value.is_double()) return value;
  if (value.is_number()) return value.to_number<double>();
  if (value.is_string()) {
    const std::string_view text = trim(text_of(value));
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, failed] = std::from_chars(text.data(), end, number);
    const bool is_number = failed == std::errc() && stopped == end;
    if (is_number && number - number == 0) return number;
  }
  return given.wrong("takes a number, or text that is one");
}

/// The numbers, of one list or one by one.
Result<std::vector<std::int64_t>> numbers_of(const Arguments& given) {
  std::vector<std::int64_t> numbers;
  if (given.size() == 1 && given.values[0].is_array()) {
    for (const json::value& element : given.values[0].get_array()) {
      if (!element.is_int64()) return given.wrong("takes whole numbers only");
      numbers.push_back(element.get_int64());
    }
    if (numbers.empty()) return given.wrong("the list is empty");
    return numbers;
  }
  for (std::size_t index = 0; index < given.size(); ++index) {
    numbers.push_back(TRY(given.number(index)));
  }
  return numbers;
}

Result<json::value> least(const Arguments& given) {
  const auto numbers = TRY(numbers_of(given));
  return *std::ranges::min_element(numbers);
}
Result<json::value> greatest(const Arguments& given) {
  const auto numbers = TRY(numbers_of(given));
  return *std::ranges::max_element(numbers);
}

Result<json::value> range(const Arguments& given) {
  const std::int64_t first = TRY(given.number(0));
  const std::int64_t count = TRY(given.number(1));
  if (count < 0 || count > kMostOfARange) {
    return given.wrong(fmt::format("the count is from 0 to {}", kMostOfARange));
  }
  if (first > std::numeric_limits<std::int64_t>::max() - count) {
    return given.wrong("the numbers are too large");
  }
  json::array numbers;
  numbers.reserve(static_cast<std::size_t>(count));
  for (std::int64_t number = first; number < first + count; ++number) numbers.emplace_back(number);
  return numbers;
}

constexpr Function kFunctions[] = {
    {"add", 2, 2, calculate<add>},       {"sub", 2, 2, calculate<subtract>},
    {"mul", 2, 2, calculate<multiply>},  {"div", 2, 2, calculate<divide>},
    {"mod", 2, 2, calculate<remainder>}, {"int", 1, 1, to_int},
    {"float", 1, 1, to_float},           {"min", 1, kAnyNumber, least},
    {"max", 1, kAnyNumber, greatest},    {"range", 2, 2, range},
};

}  // namespace

std::span<const Function> number_functions() { return kFunctions; }

}  // namespace berth::lang::arm_template
