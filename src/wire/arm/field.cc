// SPDX-License-Identifier: Apache-2.0
#include "wire/arm/field.h"

#include <fmt/format.h>

#include "base/text.h"

namespace berth::wire::arm {

tl::unexpected<Error> at(Error error, std::string target) {
  error.target = std::move(target);
  return fail(std::move(error));
}

json::object to_json(const std::map<std::string, std::string>& map) {
  json::object object;
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

Result<Fields> Fields::of(const json::value& value, std::string path) {
  if (value.is_object()) return Fields(value.get_object(), std::move(path));
  if (path.empty()) return fail(Code::InvalidArgument, "the body must be a JSON object");
  return fail(Code::InvalidArgument, fmt::format("'{}' must be an object", path), path);
}

std::string Fields::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

tl::unexpected<Error> Fields::wrong(std::string_view key, std::string_view problem) const {
  const std::string path = path_of(key);
  return fail(Code::InvalidArgument, fmt::format("'{}' {}", path, problem), path);
}

const json::value* Fields::find(std::string_view key) const {
  const json::value* value = object_->if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<std::string> Fields::text(std::string_view key) const {
  const json::value* value = find(key);
  if (value == nullptr) return std::string();
  if (!value->is_string()) return wrong(key, "must be text");
  return std::string(value->get_string());
}

Result<std::string> Fields::required_text(std::string_view key) const {
  std::string value = TRY(text(key));
  if (value.empty()) return wrong(key, "is missing");
  return value;
}

Result<bool> Fields::boolean(std::string_view key, bool fallback) const {
  const json::value* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_bool()) return value->get_bool();
  if (value->is_string() && equals_ignoring_case(value->get_string(), "true")) return true;
  if (value->is_string() && equals_ignoring_case(value->get_string(), "false")) return false;
  return wrong(key, "must be true or false");
}

Result<std::int64_t> Fields::integer(std::string_view key, std::int64_t fallback) const {
  const json::value* value = find(key);
  if (value == nullptr) return fallback;
  boost::system::error_code failed;
  const auto number = value->to_number<std::int64_t>(failed);
  if (failed) return wrong(key, "must be a whole number");
  return number;
}

Result<std::map<std::string, std::string>> Fields::text_map(std::string_view key) const {
  std::map<std::string, std::string> map;
  const std::optional<Fields> members = TRY(fields(key));
  if (!members) return map;
  for (const auto& [name, value] : members->object()) {
    if (value.is_null()) continue;
    const bool is_plain = value.is_number() || value.is_bool();
    map[std::string(name)] = is_plain ? json::serialize(value) : TRY(members->text(name));
  }
  return map;
}

Result<std::optional<Fields>> Fields::fields(std::string_view key) const {
  const json::value* value = find(key);
  if (value == nullptr) return std::optional<Fields>();
  return std::optional<Fields>(TRY(of(*value, path_of(key))));
}

Result<json::object> Fields::any_object(std::string_view key) const {
  const std::optional<Fields> found = TRY(fields(key));
  return found ? found->object() : json::object();
}

}  // namespace berth::wire::arm
