// SPDX-License-Identifier: Apache-2.0
// What a member of a record may be, for base/record.h to tell apart.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/shared.h"

namespace berth::record::detail {

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};
template <typename T>
struct IsMap : std::false_type {};
template <typename T>
struct IsMap<std::map<std::string, T>> : std::true_type {};
template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T>
struct IsShared : std::false_type {};
template <typename T>
struct IsShared<Shared<T>> : std::true_type {};
template <typename T>
struct IsVariant : std::false_type {};
template <typename... T>
struct IsVariant<std::variant<T...>> : std::true_type {};
template <typename T>
struct IsId : std::false_type {};
template <typename T>
struct IsId<Id<T>> : std::true_type {};
template <typename T>
struct IsDuration : std::false_type {};
template <typename R, typename P>
struct IsDuration<std::chrono::duration<R, P>> : std::true_type {};
template <typename T>
struct IsTime : std::false_type {};
template <typename C, typename D>
struct IsTime<std::chrono::time_point<C, D>> : std::true_type {};

}  // namespace berth::record::detail
