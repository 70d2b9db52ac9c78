// SPDX-License-Identifier: Apache-2.0
#include "server/application.h"

#include <algorithm>

#include "base/digest.h"
#include "base/log.h"
#include "base/text.h"
#include "server/blob_access.h"
#include "server/control_plane.h"
#include "server/signer.h"
#include "wire/arm/error.h"

namespace berth::server {
namespace {

constexpr std::uint64_t kJsonLimit = 4u << 20;
constexpr std::uint64_t kSpoolLimit = 5ull << 30;
constexpr int kMostReads = 250;
constexpr Duration kPauseBeforeReading(20);

std::string_view bearer_token(const io::RequestHead& head) {
  const std::string_view value = io::header(head.headers, "Authorization");
  return starts_with_ignoring_case(value, "Bearer ") ? trim(value.substr(7)) : std::string_view();
}

/// Nodes come by the address that their site was given: through a port that is forwarded, say.
bool is_address_of_a_site(const core::State& state, std::string_view authority) {
  return std::ranges::any_of(state.sites, [&](const auto& entry) {
    std::string_view url = entry.second.server_url;
    if (url.starts_with("https://")) url.remove_prefix(8);
    return !authority.empty() && url.substr(0, url.find('/')) == authority;
  });
}

}  // namespace

io::Reply error_reply(const Error& error) {
  io::Reply reply{.status = wire::arm::http_status(error.code),
                  .body = wire::arm::error_body(error)};
  if (error.code == Code::Unavailable || error.code == Code::OutOfSpace) {
    reply.headers.emplace_back("Retry-After", "1");
  }
  if (error.code == Code::Unauthenticated) {
    reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"berth\"");
  }
  return reply;
}

Application::Application(ApplicationParts parts) : parts_(std::move(parts)), table_(all_routes()) {}

/// A page of another origin, or a name that was made to point here, must not reach us through
/// somebody's browser.
Status Application::check_origin(const io::RequestHead& head) const {
  const std::string_view authority = io::header(head.headers, "Host");
  if (!authority.empty() && !is_own_host(authority, parts_.services.facts) &&
      !is_address_of_a_site(parts_.services.plane.state(), authority)) {
    return fail(Code::Forbidden, "this server does not answer under that host name");
  }
  const std::string_view origin = io::header(head.headers, "Origin");
  if (origin.empty()) return Done{};
  const std::size_t scheme_end = origin.find("://");
  if (scheme_end == std::string_view::npos || origin.substr(scheme_end + 3) != authority) {
    return fail(Code::Forbidden, "requests of other origins are refused");
  }
  return Done{};
}

Principal Application::identify(const io::RequestHead& head) const {
  const std::string_view token = bearer_token(head);
  if (token.empty()) return {};
  if (equal_in_constant_time(token, parts_.owner_token)) {
    return {.kind = Principal::Kind::Owner, .name = "owner"};
  }
  const Signer& signer = parts_.services.signer;
  if (const auto node = signer.check_node_token(token)) {
    return {.kind = Principal::Kind::Node, .name = "node " + node->text, .node = *node};
  }
  if (const auto job = signer.check_job_token(token)) {
    // Dead with the attempt: what is not running has no rights.
    const auto& jobs = parts_.services.plane.state().jobs;
    const auto live = jobs.find(job->job);
    if (live != jobs.end() && live->second.attempt == job->attempt &&
        model::holds_nodes(live->second)) {
      return {.kind = Principal::Kind::Job, .name = "job " + job->job.name, .job = job->job};
    }
  }
  return {};
}

Status Application::authorise(const Route& route, const io::RequestHead& head, const Match& match,
                              const Principal& principal) const {
  if (route.permission.kind == Permission::Kind::Public) return Done{};
  if (route.permission.kind == Permission::Kind::Signature) {
    return principal.kind == Principal::Kind::Owner ? Status(Done{})
                                                    : admit_blob(head, match, parts_.services);
  }
  if (principal.kind == Principal::Kind::Nobody) {
    return fail(
        Code::Unauthenticated,
        bearer_token(head).empty()
            ? "this needs a bearer token; the owner's is in owner.token of the state directory"
            : "the bearer token is not valid here");
  }
  if (!allows(route.permission, principal)) {
    return fail(Code::Forbidden, fmt::format("{} may not do this", principal.name));
  }
  return Done{};
}

io::Admission Application::admit(const io::RequestHead& head) {
  if (const Status origin = check_origin(head); !origin)
    return io::Refuse{error_reply(origin.error())};
  const Result<Match> match = table_.find(head.method, head.path);
  const Principal principal = identify(head);
  if (!match) {
    // A stranger does not learn which paths exist.
    const bool is_stranger = principal.kind == Principal::Kind::Nobody;
    return io::Refuse{error_reply(
        is_stranger ? Error{Code::Unauthenticated, "this needs a bearer token"} : match.error())};
  }
  const Route& route = *match->route;
  if (const Status allowed = authorise(route, head, *match, principal); !allowed) {
    return io::Refuse{route.permission.kind == Permission::Kind::Signature
                          ? blob_error_reply(allowed.error())
                          : error_reply(allowed.error())};
  }
  if (route.handle == nullptr) {
    const model::NodeId node{match->parameters.at("node")};
    if (node != principal.node) {
      return io::Refuse{error_reply({Code::Forbidden, "this is another node's channel"})};
    }
    return io::Upgrade{[this, node](std::shared_ptr<io::WebSocket> channel) {
      parts_.nodes.accept(node, std::move(channel));
    }};
  }
  if (route.body == BodyKind::Spooled) return io::SpoolBody{kSpoolLimit};
  return io::ReadBody{kJsonLimit};
}

/// A request and its way to an answer.
struct Application::Exchange {
  io::Request request;
  Respond respond;
  int tries = 0;
  bool is_recorded = false;  ///< As in Call.

  bool only_reads() const { return request.head.method == "GET" || request.head.method == "HEAD"; }
};

void Application::handle(io::Request request, Respond respond) {
  attempt(std::make_shared<Exchange>(Exchange{std::move(request), std::move(respond)}));
}

void Application::attempt(const std::shared_ptr<Exchange>& exchange) {
  io::Request& request = exchange->request;
  const Respond& respond = exchange->respond;
  const Result<Match> match = table_.find(request.head.method, request.head.path);
  if (!match) return respond(error_reply(match.error()));
  if (!exchange->only_reads() && parts_.services.plane.is_clogged()) {
    return respond(error_reply(
        {Code::Unavailable, "the disk is slow and too many changes wait for it; try again"}));
  }
  Call call{.request = request, .services = parts_.services, .principal = identify(request.head)};
  call.parameters = match->parameters;
  auto query = io::parse_query(request.head.query);
  if (!query) return respond(error_reply(query.error()));
  call.query = *std::move(query);
  if (call.parameters.contains("workspaceName")) {
    call.workspace = parts_.services.plane.find_workspace(call.parameter("subscriptionId"),
                                                          call.parameter("resourceGroupName"),
                                                          call.parameter("workspaceName"));
    const bool is_own_route = std::string_view(match->route->pattern) == "W";
    if (call.workspace == nullptr && !is_own_route) {
      return respond(
          error_reply({Code::NotFound, fmt::format("no workspace '{}' in resource group '{}'",
                                                   call.parameter("workspaceName"),
                                                   call.parameter("resourceGroupName"))}));
    }
  }
  call.respond = [this, exchange](Result<io::Reply> reply) { answer(exchange, std::move(reply)); };
  Result<io::Reply> reply = match->route->handle(call);
  exchange->is_recorded = call.is_recorded;
  if (reply && is_later(*reply)) return;
  answer(exchange, std::move(reply));
}

/// Nothing leaves before the commit it rests on. Who only reads is not told of a change of somebody
/// else's that came to nothing: what it saw never was, so it looks again.
void Application::answer(const std::shared_ptr<Exchange>& exchange, Result<io::Reply> reply) {
  if (exchange->is_recorded) {
    return exchange->respond(reply ? *std::move(reply) : error_reply(reply.error()));
  }
  parts_.services.plane.when_durable(
      [this, exchange, reply = std::move(reply)](const Status& durable) {
        if (durable) return exchange->respond(reply ? *reply : error_reply(reply.error()));
        if (!exchange->only_reads() || ++exchange->tries > kMostReads) {
          return exchange->respond(error_reply(durable.error()));
        }
        parts_.loop.after(kPauseBeforeReading, [this, exchange] { attempt(exchange); });
      });
}

}  // namespace berth::server
