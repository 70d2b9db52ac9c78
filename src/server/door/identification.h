// SPDX-License-Identifier: Apache-2.0
// From what a request shows to who is asking.
#pragma once

#include <string>
#include <string_view>

#include "io/message/http.h"
#include "server/door/call.h"
#include "server/door/route.h"
#include "server/keys/principal.h"

namespace berth::server {

/// The token that a request shows: a bearer's, or on the identity endpoint the secret of its own
/// header. Empty when it shows none. A route that was not found is null.
std::string_view shown_token(const io::RequestHead& head, const Route* route);

/// Nobody, when the token is wrong, has expired or was revoked, or its work is over.
Principal identify(std::string_view token, const Route* route, std::string_view owner_token,
                   const Services& services);

/// Is a token for this audience one for us? Our own addresses are, and those names of Azure's that
/// clients ask for whatever they are told.
bool is_own_audience(std::string_view audience, const ServerFacts& facts);

}  // namespace berth::server
