// SPDX-License-Identifier: Apache-2.0
#include "lang/arm_template/functions.h"

#include <fmt/format.h>

#include "base/text.h"

namespace berth::lang::arm_template {
namespace {

std::vector<const Function*> all_functions() {
  std::vector<const Function*> all;
  for (const auto functions : {text_functions(), list_functions(), logic_functions(),
                               number_functions(), time_functions(), resource_functions()}) {
    for (const Function& function : functions) all.push_back(&function);
  }
  return all;
}

}  // namespace

tl::unexpected<Error> Arguments::wrong(std::string_view what) const {
  return fail(Code::InvalidArgument, fmt::format("{}: {}", function, what));
}

tl::unexpected<Error> Arguments::wrong(std::size_t index, std::string_view wanted) const {
  return wrong(
      fmt::format("argument {} must be {}, not {}", index + 1, wanted, kind_of(values[index])));
}

Result<std::string_view> Arguments::text(std::size_t index) const {
  if (values[index].is_string()) return text_of(values[index]);
  return wrong(index, "text");
}

Result<std::int64_t> Arguments::number(std::size_t index) const {
  if (values[index].is_int64()) return values[index].get_int64();
  return wrong(index, "a whole number");
}

Result<bool> Arguments::flag(std::size_t index) const {
  if (values[index].is_bool()) return values[index].get_bool();
  return wrong(index, "true or false");
}

Result<const json::array*> Arguments::list(std::size_t index) const {
  if (const json::array* list = values[index].if_array()) return list;
  return wrong(index, "a list");
}

Result<const json::object*> Arguments::object(std::size_t index) const {
  if (const json::object* object = values[index].if_object()) return object;
  return wrong(index, "an object");
}

const Function* find_function(std::string_view name) {
  static const std::vector<const Function*> all = all_functions();
  for (const Function* function : all) {
    if (equals_ignoring_case(function->name, name)) return function;
  }
  return nullptr;
}

std::vector<std::string_view> function_names() {
  std::vector<std::string_view> names;
  for (const Function* function : all_functions()) names.push_back(function->name);
  return names;
}

}  // namespace berth::lang::arm_template
