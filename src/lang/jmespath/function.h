// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lang/jmespath/value.h"

namespace berth::lang::jmespath {

class Evaluator;
struct Node;

/// What an argument may be; a bit each.
enum Type : unsigned {
  kNumber = 1,
  kString = 2,
  kArray = 4,
  kObject = 8,
  kReference = 16,  ///< &expression
  kNumbers = 32,    ///< A list of nothing but numbers.
  kStrings = 64,
  kAny = 128,  ///< Everything but a reference.
};

struct Argument {
  Value value{};
  const Node* reference = nullptr;
};

/// A call, with arguments whose types have been checked.
struct FunctionCall {
  Evaluator& evaluator;
  const Node& node;
  std::vector<Argument> arguments{};

  const boost::json::value& value(std::size_t index) const { return *arguments[index].value; }
  const boost::json::array& array(std::size_t index) const { return value(index).get_array(); }
  std::string_view text(std::size_t index) const { return value(index).get_string(); }
};

struct Function {
  std::string_view name;
  std::vector<unsigned> parameters;  ///< Types, each a sum of bits.
  Result<Value> (*run)(const FunctionCall& call);
  bool is_variadic = false;  ///< The last parameter may be given more than once.
};

/// A built-in function, or nullptr.
const Function* find_function(std::string_view name);
std::span<const std::string_view> function_names();

// By what they work on:
std::span<const Function> scalar_functions();
std::span<const Function> collection_functions();
std::span<const Function> ordering_functions();

/// Checks the arguments' types, and calls.
Result<Value> call(const Function& function, const FunctionCall& call);

}  // namespace berth::lang::jmespath
