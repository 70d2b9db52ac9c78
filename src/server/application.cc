// SPDX-License-Identifier: Apache-2.0
#include "server/application.h"

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

std::string_view bearer_token(const io::RequestHead& head) {
  const std::string_view value = io::header(head.headers, "Authorization");
  return starts_with_ignoring_case(value, "Bearer ") ? trim(value.substr(7)) : std::string_view();
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
  if (!authority.empty() && !is_own_host(authority, parts_.services.facts)) {
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
        !live->second.node.text.empty()) {
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

void Application::handle(io::Request request, Respond respond) {
  auto kept = std::make_shared<io::Request>(std::move(request));
  const Result<Match> match = table_.find(kept->head.method, kept->head.path);
  if (!match) return respond(error_reply(match.error()));
  Call call{.request = *kept, .services = parts_.services, .principal = identify(kept->head)};
  call.parameters = match->parameters;
  auto query = io::parse_query(kept->head.query);
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
  call.respond = [this, kept, respond](Result<io::Reply> reply) {
    answer(std::move(reply), respond);
  };
  Result<io::Reply> reply = match->route->handle(call);
  if (reply && is_later(*reply)) return;
  answer(std::move(reply), respond);
}

/// Nothing leaves before the commit it rests on.
void Application::answer(Result<io::Reply> reply, const Respond& respond) {
  parts_.services.plane.when_durable([reply = std::move(reply), respond](const Status& durable) {
    if (!durable) return respond(error_reply(durable.error()));
    respond(reply ? *reply : error_reply(reply.error()));
  });
}

}  // namespace berth::server
