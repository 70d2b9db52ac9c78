// SPDX-License-Identifier: Apache-2.0
// A value with something in every member, by description: a new member, or a whole new entity, is
// part of the tests that use it without a line of its own.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/record.h"
#include "model/job.h"

namespace berth::contract {

/// Fills all members with what `number` makes of them: other numbers, other values.
template <typename T>
void fill(T& value, int number) {
  using namespace record::detail;
  if constexpr (std::is_same_v<T, bool>) {
    value = true;
  } else if constexpr (std::is_arithmetic_v<T>) {
    value = static_cast<T>(number);
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = fmt::format("text-{} é\n", number);
  } else if constexpr (std::is_enum_v<T>) {
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
        [&](auto each) { value = each.value; });
  } else if constexpr (std::is_same_v<T, boost::json::value> ||
                       std::is_same_v<T, boost::json::object>) {
    value = boost::json::object{{"number", number}};
  } else if constexpr (IsOptional<T>::value) {
    fill(value.emplace(), number);
  } else if constexpr (IsId<T>::value) {
    value.text = fmt::format("id-{}", number);
  } else if constexpr (IsDuration<T>::value) {
    value = T(number);
  } else if constexpr (IsTime<T>::value) {
    value = T(typename T::duration(number));
  } else if constexpr (IsVariant<T>::value) {
    constexpr std::size_t kKinds = std::variant_size_v<T>;
    boost::mp11::mp_with_index<kKinds>(static_cast<std::size_t>(number) % kKinds, [&](auto kind) {
      fill(value.template emplace<kind>(), number);
    });
  } else if constexpr (IsVector<T>::value) {
    fill(value.emplace_back(), number);
  } else if constexpr (IsMap<T>::value) {
    fill(value["key"], number);
  } else {
    boost::mp11::mp_for_each<Members<T>>([&](auto member) { fill(value.*member.pointer, number); });
  }
}

template <typename T>
T sample(int number) {
  T value{};
  fill(value, number);
  // What is over is not part of the State.
  if constexpr (std::is_same_v<T, model::Job>) value.status = model::JobStatus::Queued;
  return value;
}

}  // namespace berth::contract
