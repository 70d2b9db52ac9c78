// SPDX-License-Identifier: Apache-2.0
// What every ARM resource has around its properties.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "wire/arm/field.h"

namespace berth::wire::arm {

/// {id, name, type}; `type_below` is "/jobs", "/data/versions", …, or empty for a workspace.
json::object envelope(const std::string& id, const std::string& name, std::string_view type_below);

json::object system_data(WallTime created_at, WallTime modified_at, const std::string& created_by);

/// Nothing when absent.
Result<std::optional<WallTime>> time_field(const Fields& fields, std::string_view key);

}  // namespace berth::wire::arm
