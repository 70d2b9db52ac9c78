// SPDX-License-Identifier: Apache-2.0
#include "cli/query.h"

#include <charconv>

#include "base/text.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

struct Key {
  std::string name{};
};
struct Index {
  std::int64_t at = 0;
};
struct Flatten {};  // []
struct Each {};     // [*]
using Step = std::variant<Key, Index, Flatten, Each>;

class Parser {
 public:
  explicit Parser(std::string_view text) : whole_(trim(text)), rest_(whole_) {}

  Result<std::vector<Step>> parse() {
    std::vector<Step> steps;
    if (rest_ == "@") return steps;
    for (bool first = true; !rest_.empty(); first = false) {
      if (rest_.front() == '[') {
        steps.push_back(TRY(bracket()));
        continue;
      }
      if (!first) TRY(dot());
      steps.push_back(TRY(key()));
    }
    if (steps.empty()) return fail(Code::InvalidArgument, "--query needs an expression");
    return steps;
  }

 private:
  tl::unexpected<Error> unsupported() const {
    return fail(Code::NotSupported,
                fmt::format("--query '{}': '{}' is not supported yet; keys (a.b), [0], [] and "
                            "[].key are",
                            whole_, rest_));
  }

  Status dot() {
    if (!rest_.starts_with('.')) return unsupported();
    rest_.remove_prefix(1);
    return Done{};
  }

  Result<Step> key() {
    if (rest_.starts_with('"')) return quoted_key();
    std::size_t length = 0;
    while (length < rest_.size() && is_key_character(rest_[length], length == 0)) ++length;
    if (length == 0) return unsupported();
    const Step step = Key{std::string(rest_.substr(0, length))};
    rest_.remove_prefix(length);
    return step;
  }

  Result<Step> quoted_key() {
    const std::size_t end = rest_.find('"', 1);
    const std::string_view name = rest_.substr(1, end == std::string_view::npos ? end : end - 1);
    if (end == std::string_view::npos || name.find('\\') != std::string_view::npos) {
      return unsupported();
    }
    rest_.remove_prefix(end + 1);
    return Key{std::string(name)};
  }

  Result<Step> bracket() {
    const std::size_t end = rest_.find(']');
    if (end == std::string_view::npos) return unsupported();
    const std::string_view inside = rest_.substr(1, end - 1);
    std::int64_t at = 0;
    const auto read = std::from_chars(inside.data(), inside.data() + inside.size(), at);
    const bool is_number =
        !inside.empty() && read.ec == std::errc() && read.ptr == inside.data() + inside.size();
    if (!inside.empty() && inside != "*" && !is_number) return unsupported();
    rest_.remove_prefix(end + 1);
    if (is_number) return Index{at};
    return inside.empty() ? Step(Flatten{}) : Step(Each{});
  }

  static bool is_key_character(char c, bool first) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return letter || (!first && c >= '0' && c <= '9');
  }

  std::string_view whole_;
  std::string_view rest_;
};

json::value search(const json::value& value, std::span<const Step> steps);

json::value search_key(const json::value& value, const Key& key, std::span<const Step> rest) {
  const json::object* object = value.if_object();
  const json::value* found = object == nullptr ? nullptr : object->if_contains(key.name);
  return found == nullptr ? json::value(nullptr) : search(*found, rest);
}

json::value search_index(const json::value& value, Index index, std::span<const Step> rest) {
  const json::array* array = value.if_array();
  if (array == nullptr) return nullptr;
  const auto size = static_cast<std::int64_t>(array->size());
  const std::int64_t at = index.at < 0 ? index.at + size : index.at;
  if (at < 0 || at >= size) return nullptr;
  return search((*array)[static_cast<std::size_t>(at)], rest);
}

/// Applies the rest to every element; elements that come out as null are dropped, as JMESPath does.
json::value search_each(const json::value& value, bool flatten, std::span<const Step> rest) {
  const json::array* array = value.if_array();
  if (array == nullptr) return nullptr;
  json::array found;
  const auto add = [&](const json::value& element) {
    json::value result = search(element, rest);
    if (!result.is_null()) found.push_back(std::move(result));
  };
  for (const json::value& element : *array) {
    if (flatten && element.is_array()) {
      for (const json::value& inner : element.get_array()) add(inner);
    } else {
      add(element);
    }
  }
  return found;
}

json::value search(const json::value& value, std::span<const Step> steps) {
  if (steps.empty()) return value;
  const Step& step = steps.front();
  const std::span<const Step> rest = steps.subspan(1);
  if (const auto* key = std::get_if<Key>(&step)) return search_key(value, *key, rest);
  if (const auto* index = std::get_if<Index>(&step)) return search_index(value, *index, rest);
  return search_each(value, std::holds_alternative<Flatten>(step), rest);
}

}  // namespace

Status check_query(std::string_view expression) {
  TRY(Parser(expression).parse());
  return Done{};
}

Result<json::value> query(const json::value& value, std::string_view expression) {
  return search(value, TRY(Parser(expression).parse()));
}

}  // namespace berth::cli
