// SPDX-License-Identifier: Apache-2.0
// What was logged, as MLflow's clients read it.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/tracking.h"

namespace berth::wire::mlflow {

namespace json = boost::json;

json::object to_json(const model::Experiment& experiment);
json::object to_json(const model::Run& run);  ///< Its "info" only.
json::object to_json(const model::LoggedRun& run);
json::object to_json(const model::Metric& metric);
json::object to_json(const model::LoggedModel& model);

/// What is not finite is a text: "NaN", "Infinity", "-Infinity".
json::value number_to_json(double number);

// Where a list goes on: opaque to clients, checked when it comes back.

std::string token_of_offset(std::size_t offset);
/// 0 for an empty token.
Result<std::size_t> offset_of_token(std::string_view token);
std::string token_of_point(const model::Metric& last);
Result<model::Metric> point_of_token(std::string_view token);

}  // namespace berth::wire::mlflow
