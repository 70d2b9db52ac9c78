// SPDX-License-Identifier: Apache-2.0
#include "server/keys/identity_token.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/random.h"
#include "base/record.h"
#include "base/text.h"

namespace berth::server {
namespace {

namespace json = boost::json;

constexpr std::string_view kPurpose = "identity-token";
constexpr std::string_view kIssuer = "urn:berth";
constexpr const char* kTenant = "00000000-0000-0000-0000-000000000000";
constexpr std::size_t kLongest = 4096;

/// The only header there is: the algorithm is ours to choose, never the bearer's.
constexpr std::string_view kHeader = R"({"alg":"HS256","typ":"JWT"})";

std::string to_base64url(std::string_view bytes) {
  std::string text = to_base64(bytes);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  text.resize(std::min(text.find('='), text.size()));
  return text;
}

Result<std::string> from_base64url(std::string_view text) {
  if (text.find_first_of("+/=") != text.npos) return fail(Code::InvalidArgument, "not base64url");
  std::string padded(text);
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  padded.append((4 - padded.size() % 4) % 4, '=');
  return from_base64(padded);
}

std::string signature_of(const Signer& signer, std::string_view signed_part) {
  return hmac_sha256(signer.derived_key(kPurpose), signed_part);
}

std::int64_t to_seconds(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

std::string text_of(const json::object& claims, std::string_view key) {
  const json::value* found = claims.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::int64_t number_of(const json::object& claims, std::string_view key) {
  const json::value* found = claims.if_contains(key);
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

/// The three parts' first two, if the third is our signature of them.
std::optional<std::string_view> verified_claims(const Signer& signer, std::string_view text) {
  if (text.size() > kLongest) return std::nullopt;
  const auto parts = split(text, '.');
  if (parts.size() != 3 || parts[0] != to_base64url(kHeader)) return std::nullopt;
  const std::string_view signed_part = text.substr(0, parts[0].size() + 1 + parts[1].size());
  const std::string expected = to_base64url(signature_of(signer, signed_part));
  if (!equal_in_constant_time(parts[2], expected)) return std::nullopt;
  return parts[1];
}

}  // namespace

std::string owner_mark(const Signer& signer, std::string_view owner_token) {
  return to_hex(hmac_sha256(signer.derived_key("owner-mark"), owner_token)).substr(0, 32);
}

std::string issue_identity(const Signer& signer, const Identity& identity,
                           std::string_view audience, WallTime now, WallTime expires_at) {
  json::object claims = {{"aud", audience},
                         {"iss", kIssuer},
                         {"iat", to_seconds(now)},
                         {"nbf", to_seconds(now)},
                         {"exp", to_seconds(expires_at)},
                         {"tid", kTenant},
                         {"oid", identity.user.text.empty() ? kTenant : identity.user.text},
                         {"name", identity.name},
                         {"jti", random_hex(8)}};
  if (identity.token.text.empty()) {
    claims["berth_owner"] = identity.owner;
  } else {
    claims["berth_token"] = identity.token.text;
    claims["berth_token_at"] = identity.issued_at.time_since_epoch().count();
  }
  const std::string signed_part =
      to_base64url(kHeader) + "." + to_base64url(json::serialize(claims));
  return signed_part + "." + to_base64url(signature_of(signer, signed_part));
}

std::optional<CheckedIdentity> check_identity(const Signer& signer, std::string_view text,
                                              WallTime now) {
  const auto encoded = verified_claims(signer, text);
  if (!encoded) return std::nullopt;
  const Result<std::string> decoded = from_base64url(*encoded);
  const Result<json::value> parsed = decoded ? record::parse(*decoded) : fail(decoded.error());
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const json::object& claims = parsed->get_object();
  const std::int64_t seconds = to_seconds(now);
  if (text_of(claims, "iss") != kIssuer) return std::nullopt;
  if (seconds >= number_of(claims, "exp") || seconds < number_of(claims, "nbf")) {
    return std::nullopt;
  }
  return CheckedIdentity{
      .identity = {.token = {text_of(claims, "berth_token")},
                   .issued_at = WallTime(Duration(number_of(claims, "berth_token_at"))),
                   .owner = text_of(claims, "berth_owner")},
      .audience = text_of(claims, "aud")};
}

}  // namespace berth::server
