// SPDX-License-Identifier: Apache-2.0
#include "server/application.h"

#include <algorithm>

#include "base/caught.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/text.h"
#include "core/rules/workspace_rules.h"
#include "server/blob/access.h"
#include "server/door/error_reply.h"
#include "server/door/identification.h"
#include "server/mlflow/mlflow.h"
#include "server/plane/ledger.h"

namespace berth::server {
namespace {

constexpr std::uint64_t kJsonLimit = 4u << 20;
constexpr std::uint64_t kSpoolLimit = 5ull << 30;
constexpr int kMostReads = 250;
constexpr Duration kPauseBeforeReading(20);

/// Wrong tokens of one address: enough for a misconfigured client, nothing to guess 256 bits with.
constexpr Rate kGuesses{.at_once = 2000, .per_second = 20};

bool is_signed(const io::RequestHead& head) {
  return head.query.starts_with("sig=") || head.query.find("&sig=") != std::string::npos;
}

std::string_view what_is_wanted(const io::RequestHead& head, const Route& route) {
  if (!shown_token(head, &route).empty()) return "the token is not valid here";
  if (route.permission.kind == Permission::Kind::Identity) {
    return "this needs your token in the header X-IDENTITY-HEADER; 'berth env' sets it";
  }
  return "this needs a bearer token; the owner's is in owner.token of the state directory";
}

/// Inside, as in a template, a resource is named by its id.
bool is_arm_id(std::string_view path) {
  constexpr std::string_view kStart = "/subscriptions/";
  return equals_ignoring_case(path.substr(0, kStart.size()), kStart);
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

Application::Application(ApplicationParts parts)
    : parts_(std::move(parts)),
      table_(all_routes()),
      audit_(parts_.services),
      guesses_(kGuesses),
      template_deployments_({.services = parts_.services,
                             .loop = parts_.loop,
                             .inside = inside(),
                             .key = parts_.sealing_key}),
      gate_(parts_.loop, parts_.services.ledger.state()) {
  parts_.services.run_room = &run_room_;
  parts_.services.shown_jobs = &shown_jobs_;
  parts_.services.template_deployments = &template_deployments_;
  parts_.services.nodes = &parts_.nodes;
  parts_.services.gate = &gate_;
}

Inside Application::inside() {
  return {.perform =
              [this](const Principal& principal, io::Request request) {
                return perform_inside(principal, std::move(request));
              },
          .check = [this](const Principal& principal,
                          const io::RequestHead& head) { return check_inside(principal, head); }};
}

/// A page of another origin, or a name that was made to point here, must not reach us through
/// somebody's browser.
Status Application::check_origin(const io::RequestHead& head) const {
  const std::string_view authority = io::header(head.headers, "Host");
  if (!authority.empty() && !is_own_host(authority, parts_.services.facts) &&
      !is_address_of_a_site(parts_.services.ledger.state(), authority)) {
    return fail(Code::Forbidden, "this server does not answer under that host name");
  }
  // What a browser says of itself: only its own pages and the address bar come from here.
  const std::string_view site = io::header(head.headers, "Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none") {
    return fail(Code::Forbidden, "requests of other sites are refused");
  }
  const std::string_view origin = io::header(head.headers, "Origin");
  if (origin.empty()) return Done{};
  const std::size_t scheme_end = origin.find("://");
  if (scheme_end == std::string_view::npos || origin.substr(scheme_end + 3) != authority) {
    return fail(Code::Forbidden, "requests of other origins are refused");
  }
  return Done{};
}

Principal Application::identify(const io::RequestHead& head, const Route* route) const {
  return server::identify(shown_token(head, route), route, parts_.owner_token, parts_.services);
}

/// A workspace that is not there is nowhere in particular: only who may act everywhere learns that.
Asked Application::asked_of(const Match& match) const {
  Asked asked{.permission = match.route->permission};
  const auto& parameters = match.parameters;
  if (asked.permission.kind == Permission::Kind::Signature) {
    asked.workspace = workspace_of_blob(match);
  } else if (parameters.contains("workspaceName")) {
    const model::Workspace* workspace = core::find_workspace(
        parts_.services.ledger.state(), parameters.find("subscriptionId")->second,
        parameters.find("resourceGroupName")->second, parameters.find("workspaceName")->second);
    if (workspace != nullptr) asked.workspace = workspace->id;
  }
  if (asked.permission.is_for_own_job) asked.job = parameters.find("name")->second;
  return asked;
}

/// Who it is that is let in, or why nobody is.
Result<Principal> Application::show_in(const io::RequestHead& head, const Match& match,
                                       const Principal& bearer) const {
  const Permission& permission = match.route->permission;
  if (permission.kind == Permission::Kind::Public) return bearer;
  Principal principal = bearer;
  const bool is_stranger = bearer.kind == Principal::Kind::Nobody;
  const bool takes_signature = permission.kind == Permission::Kind::Signature;
  if (takes_signature && (is_stranger || is_signed(head)) &&
      bearer.kind != Principal::Kind::Owner) {
    principal = TRY(admit_blob(head, match, parts_.services));
  } else if (is_stranger) {
    return fail(Code::Unauthenticated, std::string(what_is_wanted(head, *match.route)));
  }
  if (allows(parts_.services.ledger.state(), principal, asked_of(match))) return principal;
  const std::string why =
      fmt::format("{} may not do this here ({})", principal.name, permission.action);
  if (takes_signature) return fail_blob("AuthorizationPermissionMismatch", why);
  return fail(Code::Forbidden, why);
}

/// On a full disk what is left is for what ends work and for what makes room.
Status Application::check_room(const Route& route) const {
  const bool adds = std::string_view(route.permission.action).ends_with("/write");
  if (!adds || !parts_.services.store.is_full()) return Done{};
  return fail(
      Code::OutOfSpace,
      "the disk of the server is full; jobs that run go on, and what is deleted makes room");
}

/// A request on its way to an answer, with what its admission found out about it.
struct Application::Exchange {
  Match match;
  Principal principal;
  io::Request request{};
  io::Respond respond{};
  int tries = 0;
  bool is_recorded = false;  ///< As in Call.

  bool only_reads() const { return request.head.method == "GET" || request.head.method == "HEAD"; }
};

/// Much may have changed since the request was let in: its body may have taken an hour.
Status Application::check_still_allowed(const Exchange& exchange) const {
  const Permission& permission = exchange.match.route->permission;
  if (permission.kind == Permission::Kind::Public) return Done{};
  const core::State& state = parts_.services.ledger.state();
  const Principal& principal = exchange.principal;
  if (!is_current(state, principal, parts_.services.clock.now().wall)) {
    return fail(Code::Unauthenticated,
                fmt::format("the token of {} is no longer valid", principal.name));
  }
  if (allows(state, principal, asked_of(exchange.match))) return Done{};
  return fail(Code::Forbidden, fmt::format("{} may not do this here any more ({})", principal.name,
                                           permission.action));
}

/// Asked again while the request is served. The owner's rights do not end, a node's end with its
/// channel.
std::function<bool()> Application::guard_of(const std::shared_ptr<Exchange>& exchange) const {
  const Principal& principal = exchange->principal;
  if (principal.token.text.empty() && principal.job.name.empty()) return {};
  return [this, exchange] { return check_still_allowed(*exchange).has_value(); };
}

/// On whose account a request is.
io::Caller Application::caller_of(const io::RequestHead& head, const Route& route,
                                  const Principal& principal) {
  io::Caller caller{.only_reads = head.method == "GET" || head.method == "HEAD" ||
                                  std::string_view(route.permission.action).ends_with("/read")};
  switch (principal.kind) {
    case Principal::Kind::Nobody: break;
    case Principal::Kind::Node: caller.name = "node " + principal.node.text; break;
    case Principal::Kind::Job:
      caller.name = "job " + principal.job.workspace.text + "/" + principal.job.name;
      break;
    case Principal::Kind::Signature:  // Whoever it was given to, and passed on to.
      caller.name = fmt::format("signature of {}{} from {}", principal.token.text,
                                principal.job.name, head.peer.substr(0, head.peer.rfind(':')));
      break;
    default: caller.name = "user " + principal.name; break;
  }
  return caller;
}

io::Refuse Application::turn_away(const io::RequestHead& head, const Route* route,
                                  const Error& error, const Principal& principal) {
  const bool is_blob = route != nullptr && route->permission.kind == Permission::Kind::Signature;
  io::Reply reply = is_blob            ? blob_error_reply(error)
                    : route == nullptr ? no_route_reply(head, error)
                                       : error_reply(head, error);
  const bool is_guess = principal.kind == Principal::Kind::Nobody &&
                        (!shown_token(head, route).empty() || is_signed(head));
  // Only who has nothing good to show is slowed down: a victim's own token goes on working.
  if (is_guess && !guesses_.pass(head.peer, parts_.services.clock.now().mono)) {
    reply = throttled_reply(head);
  }
  const bool is_refusal = reply.status == 401 || reply.status == 403 || reply.status == 429;
  if (is_refusal) audit_.refused({head, route, principal, reply.status});
  io::Caller caller;
  if (route != nullptr) caller = caller_of(head, *route, principal);
  return {std::move(reply), std::move(caller)};
}

io::Admission Application::admit(const io::RequestHead& head) {
  if (const Status origin = check_origin(head); !origin) {
    return turn_away(head, nullptr, origin.error(), {});
  }
  Result<Match> match = table_.find(head.method, head.path);
  const Principal bearer = identify(head, match ? match->route : nullptr);
  if (!match) {
    // What a blob cannot be called is no secret, and a storage client takes a 401 for a signature
    // that has grown old.
    const bool is_bad_name = is_signed(head) && head.path.starts_with("/blob/") &&
                             match.error().code == Code::InvalidArgument;
    if (is_bad_name) return io::Refuse{blob_error_reply(match.error())};
    // A stranger does not learn which paths exist.
    const bool is_stranger = bearer.kind == Principal::Kind::Nobody;
    const Error error =
        is_stranger ? Error{Code::Unauthenticated, "this needs a bearer token"} : match.error();
    return turn_away(head, nullptr, error, bearer);
  }
  const Route& route = *match->route;
  Result<Principal> principal = show_in(head, *match, bearer);
  if (!principal) return turn_away(head, &route, principal.error(), bearer);
  if (route.take_over != nullptr) return give_away(head, *std::move(match), *std::move(principal));
  if (const Status room = check_room(route); !room) {
    return turn_away(head, &route, room.error(), *principal);
  }
  return let_in(head, *std::move(match), *std::move(principal));
}

/// What was found out here travels with the request: it is not matched or identified again.
io::Admission Application::let_in(const io::RequestHead& head, Match match, Principal principal) {
  const Route& route = *match.route;
  io::Caller caller = caller_of(head, route, principal);
  const auto exchange =
      std::make_shared<Exchange>(Exchange{std::move(match), std::move(principal)});
  io::Handle handle = [this, exchange](io::Request request, io::Respond respond) {
    exchange->request = std::move(request);
    exchange->respond = std::move(respond);
    attempt(exchange);
  };
  if (route.body == BodyKind::Spooled) {
    return io::SpoolBody{kSpoolLimit, std::move(handle), guard_of(exchange), wants_md5(head),
                         std::move(caller)};
  }
  return io::ReadBody{kJsonLimit, std::move(handle), guard_of(exchange), std::move(caller)};
}

/// The connection is somebody else's from here on: a service's, or a node's.
io::Admission Application::give_away(const io::RequestHead& head, Match match,
                                     Principal principal) {
  const Route& route = *match.route;
  io::Request request{.head = head};
  Call call{.request = request,
            .services = parts_.services,
            .respond = Respond([](const Result<io::Reply>&) {}),
            .principal = principal};
  const Status filled = fill(call, match);
  Result<io::Admission> given = filled ? route.take_over(call) : fail(filled.error());
  if (!given) return turn_away(head, &route, given.error(), principal);
  const io::Caller caller = caller_of(head, route, principal);
  const auto exchange =
      std::make_shared<Exchange>(Exchange{std::move(match), std::move(principal)});
  std::visit(
      [&](auto& admission) {
        admission.caller = caller;
        if constexpr (requires { admission.is_still_allowed; }) {
          admission.is_still_allowed = guard_of(exchange);
        }
      },
      *given);
  return *std::move(given);
}

void Application::attempt(const std::shared_ptr<Exchange>& exchange) {
  const io::RequestHead& head = exchange->request.head;
  const Status attempted =
      caught([&] { return head.method + " " + head.path; }, [&] { attempt_once(exchange); });
  if (!attempted) exchange->respond(error_reply(head, attempted.error()));
}

void Application::attempt_once(const std::shared_ptr<Exchange>& exchange) {
  io::Request& request = exchange->request;
  const io::Respond& respond = exchange->respond;
  const Route& route = *exchange->match.route;
  if (!exchange->only_reads() && parts_.services.ledger.is_clogged()) {
    return respond(error_reply(
        request.head,
        {Code::Unavailable, "the disk is slow and too many changes wait for it; try again"}));
  }
  if (const Status allowed = check_still_allowed(*exchange); !allowed) {
    return respond(turn_away(request.head, &route, allowed.error(), exchange->principal).reply);
  }
  Call call{.request = request,
            .services = parts_.services,
            .respond = Respond(
                [this, exchange](Result<io::Reply> reply) { answer(exchange, std::move(reply)); }),
            .principal = exchange->principal};
  if (const Status filled = fill(call, exchange->match); !filled) {
    return respond(error_reply(request.head, filled.error()));
  }
  Result<io::Reply> reply = perform(call, route);
  exchange->is_recorded = call.is_recorded;
  if (reply && is_later(*reply)) return;
  answer(exchange, std::move(reply));
}

/// What the address and the query say.
Status Application::fill(Call& call, const Match& match) const {
  call.parameters = match.parameters;
  call.rest = match.rest;
  call.query = TRY(io::parse_query(call.request.head.query));
  if (!call.parameters.contains("workspaceName")) return Done{};
  call.workspace =
      core::find_workspace(parts_.services.ledger.state(), call.parameter("subscriptionId"),
                           call.parameter("resourceGroupName"), call.parameter("workspaceName"));
  const bool is_own_route = std::string_view(match.route->pattern) == "W";
  if (call.workspace != nullptr || is_own_route) return Done{};
  return fail(Code::NotFound,
              fmt::format("no workspace '{}' in resource group '{}'",
                          call.parameter("workspaceName"), call.parameter("resourceGroupName")));
}

Status Application::check_inside(const Principal& principal, const io::RequestHead& head) const {
  if (!is_arm_id(head.path)) {
    return fail(Code::InvalidArgument,
                fmt::format("'{}' is not the id of a resource: one begins with /subscriptions/",
                            to_valid_utf8(head.path)));
  }
  const Match match = TRY(table_.find(head.method, head.path));
  const core::State& state = parts_.services.ledger.state();
  if (!is_current(state, principal, parts_.services.clock.now().wall)) {
    return fail(Code::Forbidden, fmt::format("the token of {} is no longer valid", principal.name));
  }
  if (allows(state, principal, asked_of(match))) return Done{};
  return fail(Code::Forbidden, fmt::format("{} may not do this ({}) to '{}'", principal.name,
                                           match.route->permission.action, head.path));
}

/// Only for resources, and for handlers that answer at once: nobody waits here.
Result<io::Reply> Application::perform_inside(const Principal& principal, io::Request request) {
  const Result<Match> found = table_.find(request.head.method, request.head.path);
  if (!found || found->route->handle == nullptr) {
    return fail(Code::NotFound, fmt::format("no resource '{}'", to_valid_utf8(request.head.path)));
  }
  const Match& match = *found;
  if (const Status allowed = check_inside(principal, request.head); !allowed) {
    audit_.refused({request.head, match.route, principal, 403});
    return fail(allowed.error());
  }
  const auto answered = std::make_shared<std::optional<Result<io::Reply>>>();
  Call call{.request = request,
            .services = parts_.services,
            .respond = Respond([answered](Result<io::Reply> reply) { *answered = reply; }),
            .principal = principal};
  TRY(fill(call, match));
  Result<io::Reply> reply = perform(call, *match.route);
  if (!reply || !is_later(*reply)) return reply;
  if (*answered) return **answered;
  return fail(Code::NotSupported, fmt::format("'{}' cannot be waited for here", request.head.path));
}

/// Calls the handler. A change and the line of the audit log that tells of it are one batch.
Result<io::Reply> Application::perform(Call& call, const Route& route) {
  const auto what = [&] { return call.request.head.method + " " + call.request.head.path; };
  return caught(what, [&] { return perform_unguarded(call, route); });
}

Result<io::Reply> Application::perform_unguarded(Call& call, const Route& route) {
  if (!AuditTrail::is_recorded(route, call.principal)) return route.handle(call);
  Ledger& ledger = parts_.services.ledger;
  const Together together(ledger);
  Result<io::Reply> reply = route.handle(call);
  // Asking again for what is there already changes nothing; an action is recorded in any case.
  const bool is_change =
      ledger.has_changes() || std::string_view(route.permission.action).ends_with("/action");
  if (is_change && reply && reply->status < 400) {
    audit_.changed({call.request.head, &route, call.principal, reply->status});
  }
  return reply;
}

/// Nothing leaves before the commit it rests on. Who only reads is not told of a change of somebody
/// else's that came to nothing: what it saw never was, so it looks again.
void Application::answer(const std::shared_ptr<Exchange>& exchange, Result<io::Reply> reply) {
  const auto finish = [exchange](Result<io::Reply> result) {
    exchange->respond(result ? *std::move(result)
                             : error_reply(exchange->request.head, result.error()));
    exchange->request = {};  // The connection keeps the exchange until its answer has left.
  };
  if (exchange->is_recorded) return finish(std::move(reply));
  parts_.services.ledger.when_durable(
      [this, exchange, finish, reply = std::move(reply)](const Status& durable) mutable {
        if (durable) return finish(std::move(reply));
        if (!exchange->only_reads() || ++exchange->tries > kMostReads) {
          return finish(fail(durable.error()));
        }
        parts_.loop.after(kPauseBeforeReading, [this, exchange] { attempt(exchange); });
      });
}

}  // namespace berth::server
