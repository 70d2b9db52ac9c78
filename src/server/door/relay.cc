// SPDX-License-Identifier: Apache-2.0
#include "server/door/relay.h"

#include "base/text.h"

namespace berth::server {
namespace {

/// What this server knows its callers by.
constexpr std::string_view kTokens[] = {"Authorization", "X-IDENTITY-HEADER"};

/// What browsers take for the whole host, of which the upstream is only one path.
constexpr std::string_view kOfWholeHost[] = {"Strict-Transport-Security", "Alt-Svc",
                                             "Clear-Site-Data", "Service-Worker-Allowed",
                                             "Public-Key-Pins"};

/// Names of cookies that are this server's own, whatever it may keep in them.
constexpr std::string_view kOwnCookies = "berth";

/// The cookies but for our own; empty: none is left.
std::string cookies_of_upstream(std::string_view cookies) {
  std::string passed;
  for (const std::string_view each : split(cookies, ';')) {
    const std::string_view cookie = trim(each);
    if (cookie.empty() || starts_with_ignoring_case(cookie, kOwnCookies)) continue;
    if (!passed.empty()) passed += "; ";
    passed += cookie;
  }
  return passed;
}

/// Clients may send several headers of the name; the upstream gets one.
std::string all_cookies(const io::Headers& headers) {
  std::string all;
  for (const auto& [name, value] : headers) {
    if (equals_ignoring_case(name, "Cookie")) all.append(value).append(";");
  }
  return cookies_of_upstream(all);
}

}  // namespace

io::RelayPlan relay_to(std::shared_ptr<io::Upstream> upstream, const Call& call) {
  const io::RequestHead& head = call.request.head;
  io::RelayPlan plan{.to = std::move(upstream), .target = call.rest};
  if (!head.query.empty()) plan.target.append("?").append(head.query);
  plan.request.remove.assign(std::begin(kTokens), std::end(kTokens));
  plan.request.remove.emplace_back("Cookie");
  if (std::string cookies = all_cookies(head.headers); !cookies.empty()) {
    plan.request.add.emplace_back("Cookie", std::move(cookies));
  }
  // So that it can write addresses that lead back to it.
  plan.request.add.emplace_back("X-Forwarded-Prefix",
                                head.path.substr(0, head.path.size() - call.rest.size()));
  plan.answer.remove.assign(std::begin(kOfWholeHost), std::end(kOfWholeHost));
  return plan;
}

}  // namespace berth::server
