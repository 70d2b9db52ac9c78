// SPDX-License-Identifier: Apache-2.0
// Plain structs to JSON and back, by description: BOOST_DESCRIBE_STRUCT(Job, (), (name, status)).
//
// For our own records (database rows, messages between server and node), where the JSON keys are
// the member names. Formats that others define are written by hand in wire/. Reading is tolerant: a
// key that is missing leaves the member's initialiser, an unknown key is skipped, so that a newer
// reader takes older records as they are. Text leaves out what is blank and starts blank, so a
// member that once started blank must always do so.
#pragma once

#include <algorithm>
#include <array>
#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/record_kinds.h"
#include "base/result.h"

namespace berth::record {

namespace json = boost::json;

/// A member that is a std::variant of described structs is written flat: the members of what it
/// holds stand beside those of the struct it is in, and under OneOf<Variant>::kKey which it is, by
/// its kKind. The first alternative goes without saying. When nothing is said it is the first of
/// which a member is there. Each variant that is written specialises this:
///     template <> struct OneOf<Work> { static constexpr std::string_view kKey = "type"; };
template <typename Variant>
struct OneOf;

/// A struct that is one text in a record has these functions beside it.
template <typename T>
concept IsText = requires(const T& value, std::string_view text, T& into) {
  { record_text(value) } -> std::same_as<std::string>;
  read_record_text(text, into);
};

template <typename T>
json::value encode(const T& value);
template <typename T>
Status decode_into(const json::value& from, T& value);

namespace detail {

inline tl::unexpected<Error> mismatch(std::string_view wanted) {
  return fail(Code::InvalidArgument, "expected " + std::string(wanted));
}

template <typename T>
using Members = boost::describe::describe_members<T, boost::describe::mod_public>;

/// The type of the member that a description names.
template <typename T, typename Description>
using MemberOf = std::remove_cvref_t<decltype(std::declval<T>().*Description::pointer)>;

template <typename T>
void encode_members(json::object& object, const T& value);

template <typename Variant>
void encode_held(json::object& object, const Variant& held) {
  const auto encode_one = [&](const auto& value) {
    if (held.index() != 0) object.emplace(OneOf<Variant>::kKey, value.kKind);
    encode_members(object, value);
  };
  std::visit(encode_one, held);
}

template <typename T>
void encode_members(json::object& object, const T& value) {
  boost::mp11::mp_for_each<Members<T>>([&](auto member) {
    if constexpr (IsVariant<MemberOf<T, decltype(member)>>::value) {
      encode_held(object, value.*member.pointer);
    } else {
      object.emplace(member.name, encode(value.*member.pointer));
    }
  });
}

template <typename T>
json::value encode_struct(const T& value) {
  json::object object;
  object.reserve(boost::mp11::mp_size<Members<T>>::value);
  encode_members(object, value);
  return object;
}

template <typename T>
Status decode_struct(const json::value& from, T& value);

inline bool says_something(const json::value* value) {
  if (value == nullptr || value->is_null()) return false;
  return !(value->is_array() && value->get_array().empty());
}

template <typename T>
bool has_member_of(const json::object& from) {
  bool has_any = false;
  boost::mp11::mp_for_each<Members<T>>(
      [&](auto member) { has_any = has_any || says_something(from.if_contains(member.name)); });
  return has_any;
}

template <typename... T>
Status decode_held(const json::value& from, std::variant<T...>& held) {
  const json::object& object = from.get_object();
  const json::value* kind = object.if_contains(OneOf<std::variant<T...>>::kKey);
  if (kind != nullptr && !kind->is_string()) return mismatch("the name of a kind");
  Status status = Done{};
  const auto decode_as = [&]<typename Alternative>() {
    const bool is_it = kind == nullptr ? has_member_of<Alternative>(object)
                                       : kind->get_string() == Alternative::kKind;
    if (is_it) status = decode_struct(from, held.template emplace<Alternative>());
    return is_it;
  };
  const bool is_known = (decode_as.template operator()<T>() || ...);
  if (kind == nullptr || is_known) return status;
  return fail(Code::InvalidArgument, "unknown value '" + std::string(kind->get_string()) + "'",
              std::string(OneOf<std::variant<T...>>::kKey));
}

/// A member that has a key of its own.
template <typename T>
struct Slot {
  std::string_view key{};
  Status (*decode)(const json::value& from, T& value);
};

template <typename T, typename Description>
Status decode_member(const json::value& from, T& value) {
  Status decoded = decode_into(from, value.*Description::pointer);
  if (decoded) return decoded;
  Error error = decoded.error();
  const std::string name = Description::name;
  error.target = error.target.empty() ? name : name + "." + error.target;
  return fail(std::move(error));
}

template <typename T>
struct IsHeldFlat {
  template <typename Description>
  using Of = IsVariant<MemberOf<T, Description>>;
};
template <typename T>
using FlatMembers = boost::mp11::mp_copy_if<Members<T>, IsHeldFlat<T>::template Of>;

template <typename T>
constexpr auto slots_of() {
  using Described = boost::mp11::mp_remove_if<Members<T>, IsHeldFlat<T>::template Of>;
  return []<typename... D>(boost::mp11::mp_list<D...>) {
    return std::array<Slot<T>, sizeof...(D)>{Slot<T>{D::name, &decode_member<T, D>}...};
  }(boost::mp11::mp_rename<Described, boost::mp11::mp_list>{});
}

/// Records have their keys in the order of the members, so that the next one is mostly the one.
template <typename Slots>
std::size_t find_slot(const Slots& slots, std::size_t next, std::string_view key) {
  for (std::size_t i = next; i < slots.size(); ++i) {
    if (slots[i].key == key) return i;
  }
  for (std::size_t i = 0; i < std::min(next, slots.size()); ++i) {
    if (slots[i].key == key) return i;
  }
  return slots.size();
}

template <typename T>
Status decode_struct(const json::value& from, T& value) {
  if (!from.is_object()) return mismatch("an object");
  static constexpr auto kSlots = slots_of<T>();
  bool has_others = false;  // Unknown keys, or those of what is written flat.
  std::size_t next = 0;
  for (const auto& entry : from.get_object()) {
    const std::size_t slot = find_slot(kSlots, next, entry.key());
    has_others = has_others || slot == kSlots.size();
    if (slot == kSlots.size()) continue;
    TRY(kSlots[slot].decode(entry.value(), value));
    next = slot + 1;
  }
  Status status = Done{};
  if (!has_others) return status;
  boost::mp11::mp_for_each<FlatMembers<T>>([&](auto member) {
    if (status) status = decode_held(from, value.*member.pointer);
  });
  return status;
}

template <typename T>
Status decode_enum(const json::value& from, T& value) {
  if (!from.is_string()) return mismatch("text");
  const json::string& name = from.get_string();
  if (boost::describe::enum_from_string(std::string(name).c_str(), value)) return Done{};
  return fail(Code::InvalidArgument, "unknown value '" + std::string(name) + "'");
}

template <typename T>
Status decode_number(const json::value& from, T& value) {
  boost::system::error_code failed;
  value = from.to_number<T>(failed);
  if (failed) return mismatch("a number");
  return Done{};
}

template <typename T>
Status decode_vector(const json::value& from, T& value) {
  if (!from.is_array()) return mismatch("a list");
  value.clear();
  for (const json::value& element : from.get_array()) {
    value.emplace_back();
    TRY(decode_into(element, value.back()));
  }
  return Done{};
}

template <typename T>
Status decode_map(const json::value& from, T& value) {
  if (!from.is_object()) return mismatch("an object");
  value.clear();
  for (const auto& [key, element] : from.get_object()) {
    TRY(decode_into(element, value[std::string(key)]));
  }
  return Done{};
}

}  // namespace detail

template <typename T>
json::value encode(const T& value) {
  if constexpr (std::is_same_v<T, json::value> || std::is_same_v<T, json::object>) {
    return value;
  } else if constexpr (std::is_same_v<T, std::string> || std::is_arithmetic_v<T>) {
    return json::value(value);
  } else if constexpr (std::is_enum_v<T>) {
    return json::value(boost::describe::enum_to_string(value, "?"));
  } else if constexpr (IsText<T>) {
    return json::value(record_text(value));
  } else if constexpr (detail::IsOptional<T>::value) {
    return value ? encode(*value) : json::value(nullptr);
  } else if constexpr (detail::IsShared<T>::value) {
    return encode(*value);
  } else if constexpr (detail::IsId<T>::value) {
    return json::value(value.text);
  } else if constexpr (detail::IsDuration<T>::value) {
    return json::value(value.count());
  } else if constexpr (detail::IsTime<T>::value) {
    return json::value(value.time_since_epoch().count());
  } else if constexpr (detail::IsVector<T>::value) {
    json::array array;
    for (const auto& element : value) array.push_back(encode(element));
    return array;
  } else if constexpr (detail::IsMap<T>::value) {
    json::object object;
    for (const auto& [key, element] : value) object[key] = encode(element);
    return object;
  } else {
    return detail::encode_struct(value);
  }
}

template <typename T>
Status decode_into(const json::value& from, T& value) {
  if constexpr (std::is_same_v<T, json::value>) {
    value = from;
    return Done{};
  } else if constexpr (std::is_same_v<T, json::object>) {
    if (!from.is_object()) return detail::mismatch("an object");
    value = from.get_object();
    return Done{};
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!from.is_string()) return detail::mismatch("text");
    value = std::string(from.get_string());
    return Done{};
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!from.is_bool()) return detail::mismatch("true or false");
    value = from.get_bool();
    return Done{};
  } else if constexpr (std::is_arithmetic_v<T>) {
    return detail::decode_number(from, value);
  } else if constexpr (std::is_enum_v<T>) {
    return detail::decode_enum(from, value);
  } else if constexpr (IsText<T>) {
    if (!from.is_string()) return detail::mismatch("text");
    read_record_text(from.get_string(), value);
    return Done{};
  } else if constexpr (detail::IsOptional<T>::value) {
    value.reset();
    return from.is_null() ? Status(Done{}) : decode_into(from, value.emplace());
  } else if constexpr (detail::IsShared<T>::value) {
    return decode_into(from, value.edit());
  } else if constexpr (detail::IsId<T>::value) {
    return decode_into(from, value.text);
  } else if constexpr (detail::IsDuration<T>::value) {
    typename T::rep count{};
    TRY(decode_into(from, count));
    value = T(count);
    return Done{};
  } else if constexpr (detail::IsTime<T>::value) {
    typename T::duration since_epoch{};
    TRY(decode_into(from, since_epoch));
    value = T(since_epoch);
    return Done{};
  } else if constexpr (detail::IsVector<T>::value) {
    return detail::decode_vector(from, value);
  } else if constexpr (detail::IsMap<T>::value) {
    return detail::decode_map(from, value);
  } else {
    return detail::decode_struct(from, value);
  }
}

namespace detail {

void append_quoted(std::string& text, std::string_view string);
void append_integer(std::string& text, std::int64_t number);
void append_integer(std::string& text, std::uint64_t number);

template <typename T>
void append(std::string& text, const T& value);

/// Nothing was said: an empty text, list or map, no value, null or false.
template <typename T>
bool is_blank(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return !value;
  } else if constexpr (IsOptional<T>::value) {
    return !value.has_value();
  } else if constexpr (IsId<T>::value) {
    return value.text.empty();
  } else if constexpr (std::is_same_v<T, json::value>) {
    return value.is_null();
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, json::object> ||
                       IsVector<T>::value || IsMap<T>::value) {
    return value.empty();
  } else {
    return false;
  }
}

inline void append_key(std::string& text, char& before, std::string_view key) {
  text += before;
  text += '"';
  text += key;
  text += "\":";
  before = ',';
}

template <typename T>
void append_members(std::string& text, char& before, const T& value);

template <typename Variant>
void append_held(std::string& text, char& before, const Variant& held) {
  const auto append_one = [&](const auto& value) {
    if (held.index() != 0) {
      append_key(text, before, OneOf<Variant>::kKey);
      append_quoted(text, value.kKind);
    }
    append_members(text, before, value);
  };
  std::visit(append_one, held);
}

/// Leaves out members that are blank and would be blank without being mentioned: most of a job's.
template <typename T>
void append_members(std::string& text, char& before, const T& value) {
  [[maybe_unused]] static const T kInitial{};
  boost::mp11::mp_for_each<Members<T>>([&](auto member) {
    if constexpr (IsVariant<MemberOf<T, decltype(member)>>::value) {
      append_held(text, before, value.*member.pointer);
    } else {
      if (is_blank(value.*member.pointer) && is_blank(kInitial.*member.pointer)) return;
      append_key(text, before, member.name);
      append(text, value.*member.pointer);
    }
  });
}

template <typename T>
void append_struct(std::string& text, const T& value) {
  char before = '{';
  append_members(text, before, value);
  text += before == '{' ? "{}" : "}";
}

template <typename T>
void append_elements(std::string& text, const T& value) {
  text += '[';
  for (const auto& element : value) {
    if (&element != &value.front()) text += ',';
    append(text, element);
  }
  text += ']';
}

template <typename T>
void append_entries(std::string& text, const T& value) {
  char before = '{';
  for (const auto& [key, element] : value) {
    text += before;
    append_quoted(text, key);
    text += ':';
    append(text, element);
    before = ',';
  }
  text += before == '{' ? "{}" : "}";
}

/// Writes what encode() builds, without building it: a third of the time.
template <typename T>
void append(std::string& text, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    append_quoted(text, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    text += value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    append_integer(text, static_cast<Wide>(value));
  } else if constexpr (std::is_enum_v<T>) {
    append_quoted(text, boost::describe::enum_to_string(value, "?"));
  } else if constexpr (IsText<T>) {
    append_quoted(text, record_text(value));
  } else if constexpr (IsOptional<T>::value) {
    if (value) {
      append(text, *value);
    } else {
      text += "null";
    }
  } else if constexpr (IsShared<T>::value) {
    append(text, *value);
  } else if constexpr (IsId<T>::value) {
    append_quoted(text, value.text);
  } else if constexpr (IsDuration<T>::value) {
    append(text, value.count());
  } else if constexpr (IsTime<T>::value) {
    append(text, value.time_since_epoch().count());
  } else if constexpr (IsVector<T>::value) {
    append_elements(text, value);
  } else if constexpr (IsMap<T>::value) {
    append_entries(text, value);
  } else if constexpr (boost::describe::has_describe_members<T>::value) {
    append_struct(text, value);
  } else {
    text += json::serialize(encode(value));
  }
}

}  // namespace detail

/// Parses JSON text with our limits (depth 64); the message says at which byte it broke.
Result<json::value> parse(std::string_view text, json::storage_ptr storage = {});

/// Whether every number in it is one: JSON can write 1e999, which is read as infinity, which cannot
/// be written again.
bool is_finite(const json::value& value);

template <typename T>
Result<T> decode(const json::value& from) {
  T value{};
  TRY(decode_into(from, value));
  return value;
}

template <typename T>
Result<T> decode_text(std::string_view text) {
  // The parsed value lives only here: it is laid out in one piece and thrown away whole.
  unsigned char memory[8192];
  json::monotonic_resource storage(memory, sizeof memory);
  const json::value parsed = TRY(parse(text, &storage));
  return decode<T>(parsed);
}

template <typename T>
std::string encode_text(const T& value) {
  std::string text;
  text.reserve(2048);
  detail::append(text, value);
  return text;
}

}  // namespace berth::record
