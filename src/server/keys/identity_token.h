// SPDX-License-Identifier: Apache-2.0
// The tokens that Azure's credential classes get from the identity endpoint and show to us.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "model/access.h"
#include "server/keys/signer.h"

namespace berth::server {

/// Whom an identity token stands for. It is as good as the token it was asked for with: what is
/// named here must still be what it was.
struct Identity {
  model::TokenId token{};  ///< A user's token; empty: the owner's.
  WallTime issued_at{};    ///< Of the user's token.
  std::string owner{};     ///< owner_mark() of the owner's token.

  // For people who look into it; nothing is decided by these.
  model::UserId user{};
  std::string name{};
};

/// Tells one owner's token from the next without telling the token.
std::string owner_mark(const Signer& signer, std::string_view owner_token);

/// A JWT (HS256, with a key of its own derived from the installation's) for this audience.
std::string issue_identity(const Signer& signer, const Identity& identity,
                           std::string_view audience, WallTime now, WallTime expires_at);

/// What a JWT of ours says, and for which audience; nothing when it is anything else: another
/// algorithm, a changed byte, expired, not yet good.
struct CheckedIdentity {
  Identity identity{};
  std::string audience{};
};
std::optional<CheckedIdentity> check_identity(const Signer& signer, std::string_view text,
                                              WallTime now);

}  // namespace berth::server
