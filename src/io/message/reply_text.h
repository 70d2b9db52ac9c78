// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "io/message/http.h"

namespace berth::io {

/// The answer the server itself gives, in the shape of all others:
/// {"error":{"code":…,"message":…}}.
Reply error_reply(int status, std::string_view code, std::string_view message);
/// Why a body could not be spooled: 507 for a full disk, 503 otherwise.
Reply error_reply(const Error& error);

/// How the head of one reply is written.
struct ReplyFraming {
  bool keep_alive = true;
  bool answers_head = false;  ///< To HEAD: a length, but no body.
  bool is_http11 = true;      ///< The client knows chunks.
};

bool has_body(const Reply& reply, const ReplyFraming& framing);

/// Status line and headers, to the empty line that ends them. Headers of the reply that are not
/// well-formed names, that repeat, or that are the server's to set are left out; control characters
/// are dropped from values, so that no value can start a header of its own.
std::string reply_head(const Reply& reply, const ReplyFraming& framing, std::string_view date);

/// "Mon, 16 Nov 2026 00:45:12 GMT", written anew once a second.
class DateText {
 public:
  std::string_view at(WallTime now);

 private:
  std::int64_t second_ = -1;
  std::string text_{};
};

}  // namespace berth::io
