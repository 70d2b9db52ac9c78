// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "core/access.h"
#include "model/access.h"

namespace berth::server {

/// "berth-user.<id>.<secret>". The start lets scanners for lost secrets know it.
std::string user_token_text(const model::TokenId& id, std::string_view secret);

/// SHA-256 in hex. The secret has 256 random bits: nothing slower is needed to keep it.
std::string hash_of_secret(std::string_view secret);

/// The token that this text is, unless it is wrong, revoked or expired.
const model::Token* find_token(const core::Access& access, std::string_view text, WallTime now);

}  // namespace berth::server
