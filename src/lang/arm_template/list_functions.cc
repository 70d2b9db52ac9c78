// SPDX-License-Identifier: Apache-2.0
// Lists and objects, and what texts have in common with lists.
#include <map>
#include <set>

#include "base/text.h"
#include "lang/arm_template/characters.h"
#include "lang/arm_template/functions.h"

namespace berth::lang::arm_template {
namespace {

/// More elements than this are not compared with each other.
constexpr std::size_t kMostCompared = 2000;

json::value text_value(std::string_view text) { return json::value(json::string(text)); }

Result<json::value> length(const Arguments& given) {
  const json::value& value = given.values[0];
  std::size_t count = 0;
  if (value.is_string()) {
    count = character_count(text_of(value));
  } else if (value.is_array()) {
    count = value.get_array().size();
  } else if (value.is_object()) {
    count = value.get_object().size();
  } else {
    return given.wrong(0, "text, a list or an object");
  }
  return static_cast<std::int64_t>(count);
}

Result<json::value> empty(const Arguments& given) {
  if (given.values[0].is_null()) return true;
  return TRY(length(given)) == 0;
}

Result<json::value> contains(const Arguments& given) {
  const json::value& container = given.values[0];
  const json::value& item = given.values[1];
  if (container.is_string()) {
    if (item.is_structured()) return given.wrong(1, "text");
    return text_of(container).find(to_text(item)) != std::string_view::npos;
  }
  if (const json::array* list = container.if_array()) {
    return std::ranges::find(*list, item) != list->end();
  }
  if (const json::object* object = container.if_object()) {
    return find_member(*object, TRY(given.text(1))) != nullptr;
  }
  return given.wrong(0, "text, a list or an object");
}

Result<json::value> first(const Arguments& given) {
  const json::value& value = given.values[0];
  if (value.is_string()) return text_value(characters(text_of(value), 0, 1));
  const json::array& list = *TRY(given.list(0));
  return list.empty() ? json::value() : list.front();
}

Result<json::value> last(const Arguments& given) {
  const json::value& value = given.values[0];
  if (value.is_string()) {
    const std::size_t count = character_count(text_of(value));
    return text_value(characters(text_of(value), count == 0 ? 0 : count - 1, 1));
  }
  const json::array& list = *TRY(given.list(0));
  return list.empty() ? json::value() : list.back();
}

/// A part of a text or a list, from one element to another.
Result<json::value> slice(const Arguments& given, bool takes_first) {
  const json::value& value = given.values[0];
  const std::int64_t asked = TRY(given.number(1));
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(asked, 0));
  if (value.is_string()) {
    const std::string_view text = text_of(value);
    const std::size_t byte = byte_of(text, count);
    return text_value(takes_first ? text.substr(0, byte) : text.substr(byte));
  }
  const json::array& list = *TRY(given.list(0));
  const auto middle = list.begin() + static_cast<std::ptrdiff_t>(std::min(count, list.size()));
  return takes_first ? json::array(list.begin(), middle) : json::array(middle, list.end());
}

Result<json::value> take(const Arguments& given) { return slice(given, true); }
Result<json::value> skip(const Arguments& given) { return slice(given, false); }

Result<json::value> index_of(const Arguments& given) {
  if (const json::array* list = given.values[0].if_array()) {
    const auto found = std::ranges::find(*list, given.values[1]);
    return found == list->end() ? std::int64_t{-1} : found - list->begin();
  }
  const std::string text = to_lower(TRY(given.text(0)));
  const std::size_t at = text.find(to_lower(TRY(given.text(1))));
  if (at == std::string::npos) return -1;
  return static_cast<std::int64_t>(character_count(std::string_view(text).substr(0, at)));
}

Result<json::value> array(const Arguments& given) {
  if (given.values[0].is_array()) return given.values[0];
  return json::array{given.values[0]};
}

Result<json::value> create_array(const Arguments& given) {
  return json::array(given.values.begin(), given.values.end());
}

Result<json::value> create_object(const Arguments& given) {
  if (given.size() % 2 != 0) return given.wrong("takes names and values in turn");
  json::object object;
  for (std::size_t index = 0; index < given.size(); index += 2) {
    object[TRY(given.text(index))] = given.values[index + 1];
  }
  return object;
}

bool is_in(const json::array& list, const json::value& value) {
  return std::ranges::find(list, value) != list.end();
}

/// What the second says counts; objects in both are united in turn.
void unite(json::object& into, const json::object& with) {
  for (const auto& [key, value] : with) {
    json::value& target = into[key];
    if (target.is_object() && value.is_object()) {
      unite(target.get_object(), value.get_object());
    } else {
      target = value;
    }
  }
}

Status check_comparable(const Arguments& given) {
  std::size_t elements = 0;
  for (std::size_t index = 0; index < given.size(); ++index) {
    elements += TRY(given.list(index))->size();
  }
  if (elements <= kMostCompared) return Done{};
  return given.wrong(fmt::format("takes at most {} elements", kMostCompared));
}

Result<json::value> union_of(const Arguments& given) {
  if (given.values[0].is_object()) {
    json::object all;
    for (std::size_t index = 0; index < given.size(); ++index) {
      unite(all, *TRY(given.object(index)));
    }
    return all;
  }
  TRY(check_comparable(given));
  json::array all;
  for (const json::value& list : given.values) {
    for (const json::value& element : list.get_array()) {
      if (!is_in(all, element)) all.push_back(element);
    }
  }
  return all;
}

Result<json::value> intersection(const Arguments& given) {
  if (given.values[0].is_object()) {
    json::object common = given.values[0].get_object();
    for (std::size_t index = 1; index < given.size(); ++index) {
      const json::object& other = *TRY(given.object(index));
      json::object kept;
      for (const auto& [key, value] : common) {
        const json::value* same = other.if_contains(key);
        if (same != nullptr && *same == value) kept[key] = value;
      }
      common = std::move(kept);
    }
    return common;
  }
  TRY(check_comparable(given));
  json::array common;
  for (const json::value& element : given.values[0].get_array()) {
    const bool is_everywhere = std::ranges::all_of(
        given.values, [&](const json::value& list) { return is_in(list.get_array(), element); });
    if (is_everywhere && !is_in(common, element)) common.push_back(element);
  }
  return common;
}

std::map<std::string, const json::value*> sorted(const json::object& object) {
  std::map<std::string, const json::value*> members;
  for (const auto& [key, value] : object) members.emplace(key, &value);
  return members;
}

Result<json::value> items(const Arguments& given) {
  json::array list;
  for (const auto& [key, value] : sorted(*TRY(given.object(0)))) {
    list.push_back(json::object{{"key", key}, {"value", *value}});
  }
  return list;
}

Result<json::value> object_keys(const Arguments& given) {
  json::array list;
  for (const auto& [key, value] : sorted(*TRY(given.object(0)))) list.push_back(text_value(key));
  return list;
}

Result<json::value> flatten(const Arguments& given) {
  json::array flat;
  for (const json::value& element : *TRY(given.list(0))) {
    if (!element.is_array()) return given.wrong("takes a list of lists");
    flat.insert(flat.end(), element.get_array().begin(), element.get_array().end());
  }
  return flat;
}

Result<json::value> shallow_merge(const Arguments& given) {
  json::object merged;
  for (const json::value& element : *TRY(given.list(0))) {
    if (!element.is_object()) return given.wrong("takes a list of objects");
    for (const auto& [key, value] : element.get_object()) merged[key] = value;
  }
  return merged;
}

Result<json::value> try_get(const Arguments& given) {
  const json::value* found = &given.values[0];
  for (std::size_t index = 1; index < given.size() && found != nullptr; ++index) {
    const json::value& key = given.values[index];
    if (found->is_object() && key.is_string()) {
      found = find_member(found->get_object(), text_of(key));
    } else if (found->is_array() && key.is_int64() && key.get_int64() >= 0) {
      found = found->get_array().if_contains(static_cast<std::size_t>(key.get_int64()));
    } else {
      found = nullptr;
    }
  }
  return found == nullptr ? json::value() : *found;
}

constexpr Function kFunctions[] = {
    {"length", 1, 1, length},
    {"empty", 1, 1, empty},
    {"contains", 2, 2, contains},
    {"first", 1, 1, first},
    {"last", 1, 1, last},
    {"take", 2, 2, take},
    {"skip", 2, 2, skip},
    {"indexOf", 2, 2, index_of},
    {"array", 1, 1, array},
    {"createArray", 0, kAnyNumber, create_array},
    {"createObject", 0, kAnyNumber, create_object},
    {"union", 1, kAnyNumber, union_of},
    {"intersection", 1, kAnyNumber, intersection},
    {"items", 1, 1, items},
    {"objectKeys", 1, 1, object_keys},
    {"flatten", 1, 1, flatten},
    {"shallowMerge", 1, 1, shallow_merge},
    {"tryGet", 2, kAnyNumber, try_get},
};

}  // namespace

std::span<const Function> list_functions() { return kFunctions; }

}  // namespace berth::lang::arm_template
