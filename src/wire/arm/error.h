// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::wire::arm {

int http_status(Code code);
/// "ResourceNotFound", "UserError", …: what ARM clients show.
std::string_view arm_code(Code code);

/// {"error":{"code","message","target"?}}.
std::string error_body(const Error& error);

/// Reads an error answer of a server, ours or any ARM one; falls back to the status.
Error error_from(int status, std::string_view body);

}  // namespace berth::wire::arm
