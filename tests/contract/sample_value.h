// SPDX-License-Identifier: Apache-2.0
// A value with something in every member, by description: a new member, or a whole new entity, is
// part of the tests that use it without a line of its own.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/record.h"
#include "core/entity.h"
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
  } else if constexpr (record::IsText<T>) {
    read_record_text(fmt::format("text-{}/name", number), value);
  } else if constexpr (IsOptional<T>::value) {
    fill(value.emplace(), number);
  } else if constexpr (IsId<T>::value) {
    value.text = fmt::format("id-{}", number);
  } else if constexpr (IsDuration<T>::value) {
    value = T(number);
  } else if constexpr (IsTime<T>::value) {
    value = T(typename T::duration(number));
  } else if constexpr (IsVector<T>::value) {
    fill(value.emplace_back(), number);
  } else if constexpr (IsMap<T>::value) {
    fill(value["key"], number);
  } else if constexpr (record::detail::IsShared<T>::value) {
    fill(value.edit(), number);
  } else if constexpr (IsVariant<T>::value) {
    // Another number, another alternative.
    constexpr std::size_t kCount = std::variant_size_v<T>;
    boost::mp11::mp_with_index<kCount>(static_cast<std::size_t>(number) % kCount, [&](auto at) {
      fill(value.template emplace<at>(), number);
    });
  } else {
    boost::mp11::mp_for_each<Members<T>>([&](auto member) { fill(value.*member.pointer, number); });
  }
}

/// The id of the deployment that sample operations are of; a test has to make it.
inline constexpr const char* kDeployment = "going-on";

template <typename T>
T sample(int number) {
  T value{};
  fill(value, number);
  // What is over is not part of the State.
  if constexpr (std::is_same_v<T, model::Job>) value.status = model::JobStatus::Queued;
  if constexpr (std::is_same_v<T, model::TemplateDeployment>) {
    value.state = model::DeploymentState::Running;
  }
  // Nor is an operation of a deployment that is not.
  if constexpr (std::is_same_v<T, model::DeploymentOperation>) value.deployment = kDeployment;
  return value;
}

/// Makes both the same thing, as far as the key goes.
template <typename T>
void give_key(T& to, const T& from) {
  to.*core::Entity<T>::kKey = from.*core::Entity<T>::kKey;
}
inline void give_key(model::TemplateDeployment& to, const model::TemplateDeployment& from) {
  to.subscription = from.subscription;
  to.resource_group = from.resource_group;
  to.name = from.name;
}
inline void give_key(model::DeploymentOperation& to, const model::DeploymentOperation& from) {
  to.deployment = from.deployment;
  to.number = from.number;
}

}  // namespace berth::contract
