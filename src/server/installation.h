// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "io/tls.h"

namespace berth::server {

/// What an installation keeps for itself. Made at the first start; every file 0600.
struct Secrets {
  std::string id{};  ///< <home>/installation.id: tells its nodes from another's. No secret.
  std::string owner_token{};  ///< <home>/owner.token
  std::string signing_key{};  ///< <home>/secrets/signing.key
  io::KeyPair identity{};     ///< <home>/secrets/server.{pem,key}; renewed when it runs out.
};

/// Makes the folders of a state directory and whatever secrets are missing. The authority's
/// certificate is in <home>/ca.pem, for clients.
/// The first of `names` is the machine's own.
Result<Secrets> open_installation(const std::string& home, const std::vector<std::string>& names,
                                  WallTime now);

/// <home>/server.json: how command lines and nodes of this machine find the server.
Status announce(const std::string& home, std::uint16_t port, const Clock& clock);
void withdraw(const std::string& home);

}  // namespace berth::server
