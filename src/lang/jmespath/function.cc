// SPDX-License-Identifier: Apache-2.0
#include "lang/jmespath/function.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lang/jmespath/evaluate.h"

namespace berth::lang::jmespath {
namespace {

namespace json = boost::json;

constexpr std::array<std::pair<Type, std::string_view>, 8> kTypeNames = {{
    {kNumber, "a number"},
    {kString, "a string"},
    {kArray, "a list"},
    {kObject, "an object"},
    {kReference, "an expression (&…)"},
    {kNumbers, "a list of numbers"},
    {kStrings, "a list of strings"},
    {kAny, "a value"},
}};

std::string names_of(unsigned types) {
  std::string text;
  for (const auto& [type, name] : kTypeNames) {
    if ((types & type) == 0) continue;
    text += text.empty() ? "" : " or ";
    text += name;
  }
  return text;
}

bool is_list_of(const json::value& value, bool (*is_right)(const json::value&)) {
  return value.is_array() && std::ranges::all_of(value.get_array(), is_right);
}

bool fits(const Argument& argument, unsigned types) {
  if (argument.reference != nullptr) return (types & kReference) != 0;
  const json::value& value = *argument.value;
  if ((types & kAny) != 0) return true;
  if ((types & kNumber) != 0 && value.is_number()) return true;
  if ((types & kString) != 0 && value.is_string()) return true;
  if ((types & kArray) != 0 && value.is_array()) return true;
  if ((types & kObject) != 0 && value.is_object()) return true;
  if ((types & kNumbers) != 0 &&
      is_list_of(value, [](const json::value& each) { return each.is_number(); })) {
    return true;
  }
  return (types & kStrings) != 0 &&
         is_list_of(value, [](const json::value& each) { return each.is_string(); });
}

std::string described(const Argument& argument) {
  if (argument.reference != nullptr) return "an expression";
  constexpr std::size_t kEnough = 40;
  const std::string text = to_text(*argument.value);
  const std::string_view type = type_of(*argument.value);
  return text.size() > kEnough ? std::string(type) : fmt::format("{} {}", type, text);
}

const std::vector<Function>& all_functions() {
  static const std::vector<Function> all = [] {
    std::vector<Function> functions;
    for (const auto group : {scalar_functions(), collection_functions(), ordering_functions()}) {
      functions.insert(functions.end(), group.begin(), group.end());
    }
    return functions;
  }();
  return all;
}

}  // namespace

const Function* find_function(std::string_view name) {
  const auto found = std::ranges::find(all_functions(), name, &Function::name);
  return found == all_functions().end() ? nullptr : &*found;
}

std::span<const std::string_view> function_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Function& function : all_functions()) all.push_back(function.name);
    return all;
  }();
  return names;
}

Result<Value> call(const Function& function, const FunctionCall& call) {
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const unsigned types = function.parameters[std::min(i, function.parameters.size() - 1)];
    if (fits(call.arguments[i], types)) continue;
    return call.evaluator.error(
        "invalid-type", call.node,
        fmt::format("argument {} of {}() must be {}, but is {}", i + 1, function.name,
                    names_of(types), described(call.arguments[i])));
  }
  return function.run(call);
}

}  // namespace berth::lang::jmespath
