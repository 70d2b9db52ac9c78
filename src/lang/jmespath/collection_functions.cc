// SPDX-License-Identifier: Apache-2.0
// Functions of lists and objects, and what strings have in common with them.
#include <algorithm>
#include <map>

#include "lang/jmespath/evaluate.h"
#include "lang/jmespath/function.h"

namespace berth::lang::jmespath {
namespace {

namespace json = boost::json;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

Value counted(std::size_t count) { return make_value(static_cast<std::int64_t>(count)); }

Result<Value> length(const FunctionCall& call) {
  const json::value& of = call.value(0);
  if (const json::array* array = of.if_array()) return counted(array->size());
  if (const json::object* object = of.if_object()) return counted(object->size());
  // Characters, not bytes.
  const std::string_view text = call.text(0);
  return counted(text.size() -
                 static_cast<std::size_t>(std::ranges::count_if(text, continues_character)));
}

std::string reversed_text(std::string_view text) {
  std::string result;
  for (std::size_t end = text.size(); end > 0;) {
    std::size_t start = end - 1;
    while (start > 0 && continues_character(text[start])) --start;
    result += text.substr(start, end - start);
    end = start;
  }
  return result;
}

Result<Value> reverse(const FunctionCall& call) {
  if (call.value(0).is_string()) return make_value(json::string(reversed_text(call.text(0))));
  json::array reversed = call.array(0);
  std::ranges::reverse(reversed);
  return make_value(std::move(reversed));
}

Result<Value> contains(const FunctionCall& call) {
  const json::value& wanted = call.value(1);
  if (call.value(0).is_string()) {
    return make_value(wanted.is_string() && call.text(0).find(call.text(1)) != std::string::npos);
  }
  return make_value(std::ranges::any_of(
      call.array(0), [&](const json::value& each) { return are_equal(each, wanted); }));
}

Result<Value> to_array(const FunctionCall& call) {
  if (call.value(0).is_array()) return call.arguments[0].value;
  json::array array;
  array.push_back(call.value(0));
  return make_value(std::move(array));
}

Result<Value> keys(const FunctionCall& call) {
  json::array keys;
  for (const auto& member : call.value(0).get_object()) keys.emplace_back(member.key());
  return make_value(std::move(keys));
}

Result<Value> values(const FunctionCall& call) {
  json::array values;
  for (const auto& member : call.value(0).get_object()) values.push_back(member.value());
  return make_value(std::move(values));
}

Result<Value> merge(const FunctionCall& call) {
  // In the order of keys: what `az` prints of a merged object is sorted.
  std::map<std::string_view, const json::value*> members;
  for (const Argument& argument : call.arguments) {
    for (const auto& [key, member] : argument.value->get_object()) members[key] = &member;
  }
  json::object merged;
  for (const auto& [key, member] : members) merged[key] = *member;
  return make_value(std::move(merged));
}

Result<Value> map(const FunctionCall& call) {
  json::array mapped;
  for (const json::value& element : call.array(1)) {
    const Value result = TRY(call.evaluator.evaluate(*call.arguments[0].reference,
                                                     part_of(call.arguments[1].value, element)));
    TRY(call.evaluator.spend(call.node, *result));
    mapped.push_back(*result);
  }
  return make_value(std::move(mapped));
}

Result<Value> sum(const FunctionCall& call) {
  std::int64_t whole = 0;
  double broken = 0;
  bool is_whole = true;
  for (const json::value& number : call.array(0)) {
    broken += as_double(number);
    is_whole =
        is_whole && number.is_int64() && !__builtin_add_overflow(whole, number.get_int64(), &whole);
  }
  return make_value(is_whole ? json::value(whole) : json::value(broken));
}

Result<Value> average(const FunctionCall& call) {
  double total = 0;
  for (const json::value& number : call.array(0)) total += as_double(number);
  const std::size_t count = call.array(0).size();
  return count == 0 ? nothing() : make_value(total / static_cast<double>(count));
}

}  // namespace

std::span<const Function> collection_functions() {
  static const std::vector<Function> functions = {
      {"avg", {kNumbers}, average},
      {"contains", {kArray | kString, kAny}, contains},
      {"keys", {kObject}, keys},
      {"length", {kString | kArray | kObject}, length},
      {"map", {kReference, kArray}, map},
      {"merge", {kObject}, merge, true},
      {"reverse", {kString | kArray}, reverse},
      {"sum", {kNumbers}, sum},
      {"to_array", {kAny}, to_array},
      {"values", {kObject}, values},
  };
  return functions;
}

}  // namespace berth::lang::jmespath
