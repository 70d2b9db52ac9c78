// SPDX-License-Identifier: Apache-2.0
// What the language says about JSON values: kinds, truth, equality, order.
#pragma once

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace berth::lang::jmespath {

/// A value that is being looked at: part of the document, of the expression, or of a value made on
/// the way, which it then keeps alive.
using Value = std::shared_ptr<const boost::json::value>;

Value make_value(boost::json::value value);
/// A part of what `whole` holds.
inline Value part_of(const Value& whole, const boost::json::value& part) { return {whole, &part}; }
/// null.
Value nothing();

/// "string", "number", "boolean", "array", "object" or "null".
std::string_view type_of(const boost::json::value& value);

/// Everything but null, false and what is empty.
bool is_true(const boost::json::value& value);

/// 1 and 1.0 are equal.
bool are_equal(const boost::json::value& left, const boost::json::value& right);

/// Whether `left` comes before `right`; both numbers or both strings.
bool is_less(const boost::json::value& left, const boost::json::value& right);

double as_double(const boost::json::value& number);

/// Compact JSON with numbers as people write them: 0.5, not 5E-1.
std::string to_text(const boost::json::value& value);

/// About how much memory a value takes, in values of a few bytes.
std::size_t weight_of(const boost::json::value& value);

}  // namespace berth::lang::jmespath
