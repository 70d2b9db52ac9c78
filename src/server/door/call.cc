// SPDX-License-Identifier: Apache-2.0
#include "server/door/call.h"

#include "base/caught.h"
#include "base/check.h"
#include "base/record.h"
#include "base/text.h"
#include "server/keys/signer.h"
#include "server/plane/ledger.h"

namespace berth::server {
namespace {

constexpr int kLaterStatus = 0;  // No HTTP answer has it.

}  // namespace

Respond::Respond(Take take) : take_(std::move(take)) { CHECK(take_, "somebody takes the answer"); }

void Respond::operator()(Result<io::Reply> reply) const {
  (void)caught("an answer", [&] { take_(std::move(reply)); });
}

const std::string& Call::parameter(std::string_view name) const {
  const auto found = parameters.find(name);
  CHECK(found != parameters.end(), "the route's pattern has this parameter");
  return found->second;
}

std::string Call::query_value(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (equals_ignoring_case(key, name)) return value;
  }
  return {};
}

bool Call::may(std::string_view action, const model::WorkspaceId& in) const {
  return server::may(services.ledger.state(), principal, action, in);
}

std::string Call::sign(Grant grant) const {
  grant.token = principal.token;
  grant.issued_at = principal.issued_at;
  grant.job = principal.attempt > 0 ? principal.job.name : std::string();
  grant.attempt = principal.attempt;
  grant.fence = principal.fence;
  return services.signer.sign(grant);
}

bool is_own_host(std::string_view host_header, const ServerFacts& facts) {
  const std::size_t colon = host_header.rfind(':');
  if (colon == std::string_view::npos) return false;
  if (host_header.substr(colon + 1) != std::to_string(facts.port)) return false;
  const std::string_view name = host_header.substr(0, colon);
  if (equals_ignoring_case(name, "localhost") || name == "127.0.0.1" || name == "[::1]")
    return true;
  return std::ranges::any_of(
      facts.host_names, [&](const std::string& own) { return equals_ignoring_case(own, name); });
}

std::string Call::base_url() const {
  const std::string_view scheme = request.head.is_tls ? "https" : "http";
  const std::string_view host = io::header(request.head.headers, "Host");
  if (is_own_host(host, services.facts)) return fmt::format("{}://{}", scheme, host);
  return fmt::format("{}://127.0.0.1:{}", scheme, services.facts.port);
}

io::Reply later() { return {.status = kLaterStatus}; }

bool is_later(const io::Reply& reply) { return reply.status == kLaterStatus; }

io::Reply json_reply(int status, const boost::json::value& body) {
  return {.status = status, .body = boost::json::serialize(body)};
}

Result<boost::json::value> json_body(const Call& call, bool may_be_empty) {
  const std::string& text = call.request.body;
  if (trim(text).empty()) {
    if (may_be_empty) return boost::json::value(boost::json::object());
    return fail(Code::InvalidArgument, "the request has no body");
  }
  boost::json::value body = TRY(record::parse(text));
  if (!body.is_object()) return fail(Code::InvalidArgument, "the body is not a JSON object");
  if (!record::is_finite(body)) {
    return fail(Code::InvalidArgument, "a number in the body is too large");
  }
  return body;
}

}  // namespace berth::server
