// SPDX-License-Identifier: Apache-2.0
// What the transports of HttpClient have in common: what a request must not have, what is done with
// an answer as it comes, and how a failure is told.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "io/http/http_client.h"

namespace berth::io {

/// Of a body: a server is asked first whether it wants one as large as this.
inline constexpr std::uint64_t kExpectBytes = 1u << 20;
inline constexpr std::chrono::seconds kStallTimeout{60};

/// In what is one line each: it could begin a header, or a request, of its own.
bool has_line_break(const ClientRequest& request);
/// Says how long its body is, even if there is none.
bool sends_body(const ClientRequest& request);

/// An answer while it comes.
struct Intake {
  const ClientRequest& request;
  ClientResponse response{};
  std::uint64_t received = 0;

  /// A piece of the body, the status being known. An Error: no more is wanted.
  Status take(std::string_view piece);
};

/// "PUT http://… failed: why", without what is secret in the address.
tl::unexpected<Error> exchange_failed(Code code, const ClientRequest& request,
                                      std::string_view why);

}  // namespace berth::io
