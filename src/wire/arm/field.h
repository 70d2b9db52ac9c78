// SPDX-License-Identifier: Apache-2.0
// Reading fields of JSON that somebody else wrote, with errors that name the field.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::wire::arm {

namespace json = boost::json;

/// A JSON object and where it stands in the body ("properties.limits"). Refers to the object: it
/// must outlive this. A field that is null counts as absent everywhere.
class Fields {
 public:
  /// `value` must be an object.
  static Result<Fields> of(const json::value& value, std::string path);

  /// Null when absent.
  const json::value* find(std::string_view key) const;
  std::string path_of(std::string_view key) const;
  const json::object& object() const { return *object_; }

  /// Empty when absent.
  Result<std::string> text(std::string_view key) const;
  /// Absent and empty are errors.
  Result<std::string> required_text(std::string_view key) const;
  /// Also "true" and "false" in any case: parameters of templates come as text.
  Result<bool> boolean(std::string_view key, bool fallback) const;
  Result<std::int64_t> integer(std::string_view key, std::int64_t fallback) const;
  /// Empty when absent. A value that is null is left out; clients of loosely typed languages send
  /// numbers and truth values, which are taken as they are written.
  Result<std::map<std::string, std::string>> text_map(std::string_view key) const;
  Result<std::optional<Fields>> fields(std::string_view key) const;
  /// An object as it stands; empty when absent.
  Result<json::object> any_object(std::string_view key) const;

  /// InvalidArgument: "'properties.tags' <problem>", with the field as its target.
  tl::unexpected<Error> wrong(std::string_view key, std::string_view problem) const;

 private:
  Fields(const json::object& object, std::string path) : object_(&object), path_(std::move(path)) {}

  const json::object* object_;
  std::string path_;
};

/// The same error about `target`: for functions below us that do not know where a value came from.
tl::unexpected<Error> at(Error error, std::string target);

json::object to_json(const std::map<std::string, std::string>& map);

}  // namespace berth::wire::arm
