// SPDX-License-Identifier: Apache-2.0
#include "lang/arm_template/parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "lang/arm_template/characters.h"
#include "lang/arm_template/evaluate.h"

namespace berth::lang::arm_template {
namespace {

constexpr std::string_view kTypes[] = {"string", "secureString", "int",  "bool",
                                       "object", "secureObject", "array"};

bool is_type(std::string_view type, std::string_view wanted) {
  return equals_ignoring_case(type, wanted);
}

bool fits(std::string_view type, const json::value& value) {
  if (is_type(type, "string") || is_type(type, "secureString")) return value.is_string();
  if (is_type(type, "int")) return value.is_int64();
  if (is_type(type, "bool")) return value.is_bool();
  if (is_type(type, "array")) return value.is_array();
  return value.is_object();
}

/// Of text and lists their length.
Status check_limit(const json::object& declaration, std::string_view key, std::int64_t actual,
                   const std::string& path) {
  const json::value* limit = declaration.if_contains(key);
  if (limit == nullptr) return Done{};
  const std::string where = fmt::format("{}.{}", path, key);
  if (!limit->is_int64()) return fail(Code::InvalidArgument, "must be a whole number", where);
  const bool is_least = key.starts_with("min");
  const std::int64_t bound = limit->get_int64();
  if (is_least ? actual >= bound : actual <= bound) return Done{};
  const bool is_length = key.ends_with("Length");
  return fail(
      Code::InvalidArgument,
      fmt::format("{}{} at {} {}", is_length ? "its length is " : "the value is ",
                  is_length ? fmt::format("{}, but must be", actual) : "not what it must be:",
                  is_least ? "least" : "most", bound),
      path);
}

Status check_limits(const json::object& declaration, const json::value& value,
                    const std::string& path) {
  if (value.is_int64()) {
    TRY(check_limit(declaration, "minValue", value.get_int64(), path));
    return check_limit(declaration, "maxValue", value.get_int64(), path);
  }
  if (!value.is_string() && !value.is_array()) return Done{};
  const auto length = static_cast<std::int64_t>(value.is_string() ? character_count(text_of(value))
                                                                  : value.get_array().size());
  TRY(check_limit(declaration, "minLength", length, path));
  return check_limit(declaration, "maxLength", length, path);
}

Status check_allowed(const json::object& declaration, const json::value& value,
                     const std::string& path) {
  const json::value* allowed = declaration.if_contains("allowedValues");
  if (allowed == nullptr) return Done{};
  if (!allowed->is_array()) {
    return fail(Code::InvalidArgument, "must be a list", path + ".allowedValues");
  }
  const json::array& list = allowed->get_array();
  const auto is_allowed = [&](const json::value& each) {
    return std::ranges::find(list, each) != list.end();
  };
  // Of a list every element.
  const bool fits =
      is_allowed(value) || (value.is_array() && std::ranges::all_of(value.get_array(), is_allowed));
  if (fits) return Done{};
  return fail(Code::InvalidArgument,
              fmt::format("the value is not one of {}", json::serialize(list).substr(0, 400)),
              path);
}

}  // namespace

bool is_secure_type(std::string_view type) {
  return is_type(type, "secureString") || is_type(type, "secureObject");
}

std::string type_of(const json::object& declaration) {
  const json::value* type = declaration.if_contains("type");
  return type != nullptr && type->is_string() ? std::string(text_of(*type)) : std::string();
}

Status check_parameter(const json::object& declaration, const json::value& value,
                       const std::string& path) {
  const std::string type = type_of(declaration);
  const bool is_known =
      std::ranges::any_of(kTypes, [&](std::string_view each) { return is_type(type, each); });
  if (!is_known) {
    return fail(Code::InvalidArgument,
                "must be string, secureString, int, bool, object, secureObject or array",
                path + ".type");
  }
  const json::value* nullable = declaration.if_contains("nullable");
  if (value.is_null() && nullable != nullptr && *nullable == true) return Done{};
  if (!fits(type, value)) {
    return fail(Code::InvalidArgument,
                fmt::format("must be of type {}, but is {}", type, kind_of(value)), path);
  }
  TRY(check_allowed(declaration, value, path));
  return check_limits(declaration, value, path);
}

Result<json::object> given_values(const json::object& definition, const json::object& parameters) {
  const json::object& declared = *TRY(section(definition, "parameters"));
  json::object values;
  for (const auto& [key, given] : parameters) {
    const std::string name(key.data(), key.size());
    const std::string path = "parameters." + name;
    const json::value* declaration = find_member(declared, name);
    if (declaration == nullptr || !declaration->is_object()) {
      return fail(Code::InvalidArgument, fmt::format("the template has no parameter '{}'", name),
                  path);
    }
    const json::value* value =
        given.is_object() ? given.get_object().if_contains("value") : nullptr;
    if (value == nullptr) {
      const bool is_vault = given.is_object() && given.get_object().contains("reference");
      return fail(Code::InvalidArgument,
                  is_vault ? "references to a key vault are not supported; give the value"
                           : "must be an object with a \"value\"",
                  path);
    }
    if (value->is_null()) continue;  // As if it were not given.
    TRY(check_parameter(declaration->get_object(), *value, path));
    values[name] = *value;
  }
  return values;
}

}  // namespace berth::lang::arm_template
