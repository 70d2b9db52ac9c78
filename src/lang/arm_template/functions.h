// SPDX-License-Identifier: Apache-2.0
// The functions of the template language that need nothing but their arguments and the place the
// template is deployed to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/arm_template/value.h"

namespace berth::lang::arm_template {

/// Where a template is deployed.
struct Place {
  std::string subscription{};
  std::string resource_group{};
  std::string location = "local";  ///< Of the group.
  std::string deployment{};        ///< Its name.
};

/// What a function was given. Whatever is of another kind is an error that says which argument.
struct Arguments {
  std::string_view function;
  std::vector<json::value> values{};
  const Place& place;

  std::size_t size() const { return values.size(); }
  Result<std::string_view> text(std::size_t index) const;
  Result<std::int64_t> number(std::size_t index) const;
  Result<bool> flag(std::size_t index) const;
  Result<const json::array*> list(std::size_t index) const;
  Result<const json::object*> object(std::size_t index) const;
  tl::unexpected<Error> wrong(std::size_t index, std::string_view wanted) const;
  tl::unexpected<Error> wrong(std::string_view what) const;
};

inline constexpr int kAnyNumber = 1000;

struct Function {
  std::string_view name;
  int least;  ///< Arguments.
  int most;
  Result<json::value> (*run)(const Arguments& arguments);
};

std::span<const Function> text_functions();
std::span<const Function> list_functions();  ///< Lists and objects.
std::span<const Function> logic_functions();
std::span<const Function> number_functions();
std::span<const Function> time_functions();
std::span<const Function> resource_functions();

/// nullptr when there is none; names match in any case.
const Function* find_function(std::string_view name);
/// For "did you mean".
std::vector<std::string_view> function_names();

/// utcNow() and dateTimeAdd() in a .NET format; "" is the usual one.
Result<std::string> format_time(std::chrono::sys_time<std::chrono::milliseconds> time,
                                std::string_view format);

}  // namespace berth::lang::arm_template
