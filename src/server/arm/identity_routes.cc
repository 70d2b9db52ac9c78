// SPDX-License-Identifier: Apache-2.0
// Managed identity as App Service has it: Azure's credential classes ask here for tokens, with the
// secret of IDENTITY_HEADER, and show them as they would Azure's.
#include "base/text.h"
#include "server/door/identification.h"
#include "server/door/route.h"
#include "server/keys/identity_token.h"
#include "server/plane/ledger.h"

namespace berth::server {
namespace {

constexpr auto kLifetime = std::chrono::hours(1);

/// No later than the token it is asked for with: then it is good for nothing.
WallTime expiry_of(const Call& call, WallTime now) {
  const auto& tokens = call.services.ledger.state().access.tokens;
  const auto token = tokens.find(call.principal.token);
  const WallTime latest = now + kLifetime;
  return token == tokens.end() ? latest : std::min(latest, token->second.expires_at);
}

Identity identity_of(const Call& call, std::string_view secret) {
  const Principal& principal = call.principal;
  Identity identity{.token = principal.token,
                    .issued_at = principal.issued_at,
                    .user = principal.user,
                    .name = principal.name};
  if (principal.kind == Principal::Kind::Owner) {
    identity.owner = owner_mark(call.services.signer, secret);
  }
  return identity;
}

Result<io::Reply> token(Call& call) {
  call.is_recorded = true;
  std::string resource = call.query_value("resource");
  if (resource.empty()) {
    return fail(Code::InvalidArgument, "what is the token for? 'resource' is missing", "resource");
  }
  if (!is_own_audience(resource, call.services.facts)) {
    return fail(
        Code::InvalidArgument,
        fmt::format("there are tokens for '{}' here, not for '{}'", call.base_url(), resource),
        "resource");
  }
  const WallTime now = call.services.clock.now().wall;
  const WallTime expires_at = expiry_of(call, now);
  const auto seconds = [](WallTime time) {
    return std::to_string(
        std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count());
  };
  const Identity identity =
      identity_of(call, io::header(call.request.head.headers, "X-IDENTITY-HEADER"));
  io::Reply reply = json_reply(
      200,
      {{"access_token", issue_identity(call.services.signer, identity, resource, now, expires_at)},
       {"expires_on", seconds(expires_at)},
       {"not_before", seconds(now)},
       {"resource", resource},
       {"token_type", "Bearer"}});
  reply.headers.emplace_back("Cache-Control", "no-store");
  return reply;
}

constexpr Route kRoutes[] = {
    {"GET", "/msi/token", {Permission::Kind::Identity, ""}, BodyKind::None, token},
};

}  // namespace

std::span<const Route> identity_routes() { return kRoutes; }

}  // namespace berth::server
