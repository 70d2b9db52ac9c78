// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "lang/arm_template/value.h"

namespace berth::lang::arm_template {

/// Is the value of the declared type, allowed, and within the declared limits? Values are not
/// repeated in errors: they may be secret.
Status check_parameter(const json::object& declaration, const json::value& value,
                       const std::string& path);

/// secureString and secureObject: never shown, never kept in the open.
bool is_secure_type(std::string_view type);
/// The declared type; "" when there is none.
std::string type_of(const json::object& declaration);

/// What a deployment was given: the "value" of each, by the names that the template declares.
/// Unknown ones are errors.
Result<json::object> given_values(const json::object& definition, const json::object& parameters);

}  // namespace berth::lang::arm_template
