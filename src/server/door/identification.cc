// SPDX-License-Identifier: Apache-2.0
#include "server/door/identification.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "server/keys/identity_token.h"
#include "server/keys/signer.h"
#include "server/keys/user_token.h"
#include "server/plane/ledger.h"

namespace berth::server {
namespace {

bool is_identity_route(const Route* route) {
  return route != nullptr && route->permission.kind == Permission::Kind::Identity;
}

Principal principal_of(const core::Access& access, const model::Token& token) {
  return {.kind = Principal::Kind::User,
          .name = access.users.at(token.user).name,
          .user = token.user,
          .token = token.id,
          .issued_at = token.created_at,
          .only_in = token.workspace};
}

/// The owner or a user, by the secret that is theirs.
Principal by_secret(std::string_view text, std::string_view owner_token, const Services& services) {
  if (equal_in_constant_time(text, owner_token)) {
    return {.kind = Principal::Kind::Owner, .name = "owner"};
  }
  const core::Access& access = services.ledger.state().access;
  const model::Token* token = find_token(access, text, services.clock.now().wall);
  return token == nullptr ? Principal{} : principal_of(access, *token);
}

/// The same by what the identity endpoint gave them.
Principal by_identity(std::string_view text, std::string_view owner_token,
                      const Services& services) {
  const WallTime now = services.clock.now().wall;
  const auto checked = check_identity(services.signer, text, now);
  if (!checked || !is_own_audience(checked->audience, services.facts)) return {};
  const Identity& identity = checked->identity;
  if (identity.token.text.empty()) {
    const std::string mark = owner_mark(services.signer, owner_token);
    if (!equal_in_constant_time(identity.owner, mark)) return {};
    return {.kind = Principal::Kind::Owner, .name = "owner"};
  }
  const core::State& state = services.ledger.state();
  const auto token = state.access.tokens.find(identity.token);
  if (token == state.access.tokens.end()) return {};
  Principal user = principal_of(state.access, token->second);
  user.issued_at = identity.issued_at;  // A token that was given another secret is another.
  return is_current(state, user, now) ? user : Principal{};
}

/// A node, or an attempt for as long as it runs: what is not running has no rights.
Principal by_work(std::string_view text, const Services& services) {
  if (const auto node = services.signer.check_node_token(text)) {
    return {.kind = Principal::Kind::Node, .name = "node " + node->text, .node = *node};
  }
  const auto job = services.signer.check_job_token(text);
  if (!job) return {};
  Principal principal{.kind = Principal::Kind::Job,
                      .name = "job " + job->job.name,
                      .job = job->job,
                      .attempt = job->attempt,
                      .fence = job->fence};
  const WallTime now = services.clock.now().wall;
  return is_current(services.ledger.state(), principal, now) ? principal : Principal{};
}

}  // namespace

std::string_view shown_token(const io::RequestHead& head, const Route* route) {
  if (is_identity_route(route)) return trim(io::header(head.headers, "X-IDENTITY-HEADER"));
  const std::string_view value = io::header(head.headers, "Authorization");
  return starts_with_ignoring_case(value, "Bearer ") ? trim(value.substr(7)) : std::string_view();
}

Principal identify(std::string_view token, const Route* route, std::string_view owner_token,
                   const Services& services) {
  if (token.empty()) return {};
  Principal principal = by_secret(token, owner_token, services);
  // What came from the identity endpoint is no secret to get more of it with: it would never end.
  if (is_identity_route(route) || principal.kind != Principal::Kind::Nobody) return principal;
  principal = by_work(token, services);
  if (principal.kind != Principal::Kind::Nobody) return principal;
  return by_identity(token, owner_token, services);
}

bool is_own_audience(std::string_view audience, const ServerFacts& facts) {
  while (audience.ends_with('/')) audience.remove_suffix(1);
  if (!starts_with_ignoring_case(audience, "https://")) return false;
  const std::string_view host = audience.substr(8);
  // The Python client makes "https://ml.azure.<the end of our own address>" of what we tell it.
  if (starts_with_ignoring_case(host, "ml.azure.")) return true;
  constexpr std::string_view kAzures[] = {"management.azure.com", "management.core.windows.net",
                                          "storage.azure.com"};
  return is_own_host(host, facts) || std::ranges::any_of(kAzures, [&](std::string_view name) {
           return equals_ignoring_case(host, name);
         });
}

}  // namespace berth::server
