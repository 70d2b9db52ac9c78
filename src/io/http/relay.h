// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/http/upstream.h"
#include "io/message/http.h"

namespace berth::io {

/// What a relay changes in the headers of a message, beside what every relay must.
struct HeaderPatch {
  std::vector<std::string> remove{};  ///< Names, in any case.
  Headers add{};                      ///< Each takes the place of those of its name.
};

/// A request that is passed on instead of being answered here, and how.
///
/// The heads are read and written anew: headers that are about one connection only are left out,
/// and so are the X-Forwarded-* that a client made up; the upstream is told the client's address,
/// host and scheme in them. The host is the client's own. Bodies pass as they are, 64 KiB at a
/// time, and neither side is read faster than the other takes it; of chunked ones extensions and
/// trailers are dropped. After a 101 the connection is a tunnel until either side ends it.
///
/// The client is answered 502 when the upstream cannot be reached or ends without an answer, 504
/// when no answer comes in time. Once an answer is under way, all that is left is to cut it off. A
/// request without a body whose method may be repeated is sent once more, over a new connection,
/// when the connection it went through was an old one and ended without a byte.
struct RelayPlan {
  std::shared_ptr<Upstream> to{};
  std::string target{};  ///< Path and query, instead of the client's; empty: the client's.
  HeaderPatch request{};
  HeaderPatch answer{};
};

}  // namespace berth::io
