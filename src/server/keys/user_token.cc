// SPDX-License-Identifier: Apache-2.0
#include "server/keys/user_token.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"

namespace berth::server {
namespace {

constexpr std::string_view kStart = "berth-user.";

}  // namespace

std::string user_token_text(const model::TokenId& id, std::string_view secret) {
  return fmt::format("{}{}.{}", kStart, id.text, secret);
}

std::string hash_of_secret(std::string_view secret) { return to_hex(sha256(secret)); }

const model::Token* find_token(const core::Access& access, std::string_view text, WallTime now) {
  if (!text.starts_with(kStart)) return nullptr;
  text.remove_prefix(kStart.size());
  const std::size_t dot = text.find('.');
  if (dot == text.npos) return nullptr;
  const auto found = access.tokens.find({std::string(text.substr(0, dot))});
  if (found == access.tokens.end()) return nullptr;
  const model::Token& token = found->second;
  if (!equal_in_constant_time(hash_of_secret(text.substr(dot + 1)), token.hash)) return nullptr;
  return now < token.expires_at ? &token : nullptr;
}

}  // namespace berth::server
