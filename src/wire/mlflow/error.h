// SPDX-License-Identifier: Apache-2.0
// Errors as MLflow's clients read them: {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": …}.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::wire::mlflow {

/// MLflow's name for it. What exists already is 400 there, not 409: its clients go on with what is
/// there when they read RESOURCE_ALREADY_EXISTS.
std::string_view error_code(Code code);
int http_status(Code code);

std::string error_body(const Error& error);
std::string error_body(std::string_view code, std::string_view message);

/// What is said of an address that Berth does not have: traces, gateways, prompts, …
inline constexpr std::string_view kEndpointNotFound = "ENDPOINT_NOT_FOUND";

}  // namespace berth::wire::mlflow
