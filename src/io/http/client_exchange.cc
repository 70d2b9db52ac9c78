// SPDX-License-Identifier: Apache-2.0
#include "io/http/client_exchange.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace berth::io {
namespace {

constexpr std::size_t kMaxBodyBytes = 64u << 20;

/// The address for people: queries hold signatures, and user names passwords.
std::string printable(const std::string& url) {
  std::string shown = url.substr(0, url.find_first_of("?#"));
  const std::size_t authority = shown.find("://");
  if (authority == std::string::npos) return shown;
  const std::size_t slash = std::min(shown.find('/', authority + 3), shown.size());
  const std::size_t at = shown.rfind('@', slash);
  if (at != std::string::npos && at > authority) shown.erase(authority + 3, at - authority - 2);
  return shown;
}

}  // namespace

bool has_line_break(const ClientRequest& request) {
  const auto breaks = [](const std::string& text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
  };
  for (const auto& [name, value] : request.headers) {
    if (breaks(name) || breaks(value)) return true;
  }
  return breaks(request.method) || breaks(request.url);
}

bool sends_body(const ClientRequest& request) {
  return !request.body.empty() || request.method == "POST" || request.method == "PUT" ||
         request.method == "PATCH";
}

Status Intake::take(std::string_view piece) {
  received += piece.size();
  if (request.sink && response.status < 400) {
    TRY(request.sink(piece));
  } else if (response.body.size() + piece.size() > kMaxBodyBytes) {
    return fail(Code::TooLarge, "the answer is larger than " + human_bytes(kMaxBodyBytes));
  } else {
    response.body.append(piece);
  }
  if (request.progress && !request.upload) request.progress(received);
  return Done{};
}

tl::unexpected<Error> exchange_failed(Code code, const ClientRequest& request,
                                      std::string_view why) {
  return fail(code, fmt::format("{} {} failed: {}", request.method, printable(request.url), why));
}

}  // namespace berth::io
