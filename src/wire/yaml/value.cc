// SPDX-License-Identifier: Apache-2.0
#include "wire/yaml/value.h"

#include <cctype>
#include <charconv>

#include "base/text.h"

namespace berth::wire::yaml {
namespace {

namespace json = boost::json;

json::value scalar_to_json(const Node& node) {
  const std::string& text = node.text;
  if (node.quoted) return json::value(text);
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const char* end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto read = std::from_chars(text.data(), end, integer);
      read.ec == std::errc{} && read.ptr == end) {
    return integer;
  }
  // from_chars also takes "inf" and "nan", which JSON cannot say.
  const bool looks_numeric = text.find_first_of("0123456789") != std::string::npos;
  double number = 0;
  if (const auto read = std::from_chars(text.data(), end, number);
      looks_numeric && read.ec == std::errc{} && read.ptr == end) {
    return number;
  }
  return json::value(text);
}

template <typename Rename>
json::value renamed(const json::value& value, Rename rename) {
  if (value.is_array()) {
    json::array array;
    for (const json::value& element : value.get_array()) array.push_back(renamed(element, rename));
    return array;
  }
  if (!value.is_object()) return value;
  json::object object;
  for (const auto& [key, element] : value.get_object()) {
    object[rename(key)] = renamed(element, rename);
  }
  return object;
}

}  // namespace

json::value to_json(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Null: return nullptr;
    case Node::Kind::Scalar: return scalar_to_json(node);
    case Node::Kind::Sequence: {
      json::array array;
      for (const Node& item : node.items) array.push_back(to_json(item));
      return array;
    }
    case Node::Kind::Mapping: {
      json::object object;
      for (const auto& [key, value] : node.members) object[key] = to_json(value);
      return object;
    }
  }
  return nullptr;
}

std::string to_camel_case(std::string_view snake) {
  std::string result;
  bool raise = false;
  for (const char c : snake) {
    if (c == '_' && !result.empty()) {
      raise = true;
      continue;
    }
    result += raise ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    raise = false;
  }
  return result;
}

std::string to_snake_case(std::string_view camel) {
  std::string result;
  for (const char c : camel) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper && !result.empty()) result += '_';
    result += is_upper ? static_cast<char>(c | 0x20) : c;
  }
  return result;
}

json::value with_camel_keys(const json::value& value) { return renamed(value, to_camel_case); }

json::value with_snake_keys(const json::value& value) { return renamed(value, to_snake_case); }

}  // namespace berth::wire::yaml
