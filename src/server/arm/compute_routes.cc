// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "core/rules/compute_rules.h"
#include "server/door/paging.h"
#include "server/door/route.h"
#include "server/fleet/compute_view.h"
#include "server/plane/computes_desk.h"
#include "server/plane/ledger.h"
#include "wire/arm/resource.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;
using model::Compute;

constexpr std::string_view kMake = "make";
constexpr std::string_view kDelete = "delete-";  ///< Followed by when the cluster was made.

Result<const Compute*> existing(const Call& call) {
  const std::string& name = call.parameter("computeName");
  const Compute* found = core::find_compute(call.services.ledger.state(), call.workspace->id, name);
  if (found != nullptr) return found;
  return fail(Code::NotFound, fmt::format("no compute '{}' in this workspace", name));
}

/// Nobody made the built-in one: it is as old as its site.
Compute with_age(const core::State& state, Compute compute) {
  const auto site = state.sites.find(compute.site);
  if (!model::is_built_in(compute) || site == state.sites.end()) return compute;
  compute.created_at = compute.modified_at = site->second.created_at;
  return compute;
}

json::object shown(const Call& call, const Compute& compute) {
  const core::State& state = call.services.ledger.state();
  const model::ClusterView view = core::view_of(state, compute);
  return arm::to_json(with_age(state, compute), *call.workspace, view);
}

// ---- Long-running operations -------------------------------------------------------------------

// Nothing is kept of an operation: its id says what to look for in the state. A cluster is there as
// soon as the answer leaves; one that is deleted, until its last node has gone.

std::string delete_id(const Compute& compute) {
  return fmt::format("{}{}", kDelete, compute.created_at.time_since_epoch().count());
}

io::Reply begun(const Call& call, io::Reply reply, const std::string& operation) {
  const std::string below =
      fmt::format("{}{}/computes/{}", call.base_url(), model::arm_id(*call.workspace),
                  call.parameter("computeName"));
  const std::string version = "?api-version=2024-10-01";
  reply.headers.emplace_back("Azure-AsyncOperation", below + "/operations/" + operation + version);
  // After a PATCH clients take what Location answers for the resource; without it they GET that.
  if (call.request.head.method != "PATCH") {
    reply.headers.emplace_back("Location", below + "/operationResults/" + operation + version);
  }
  // Retry-After: 0 would mean "no wish" to Python, which then waits 30 seconds.
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

/// Whether the operation still goes on; NotFound when it never was one.
Result<bool> is_going_on(const Call& call) {
  const std::string& operation = call.parameter("operationId");
  if (operation == kMake) return false;
  if (!operation.starts_with(kDelete)) {
    return fail(Code::NotFound, fmt::format("no operation '{}'", operation));
  }
  const Compute* compute = core::find_compute(call.services.ledger.state(), call.workspace->id,
                                              call.parameter("computeName"));
  return compute != nullptr && delete_id(*compute) == operation;
}

Result<io::Reply> operation_status(Call& call) {
  const bool goes_on = TRY(is_going_on(call));
  io::Reply reply = json_reply(200, json::object{{"id", call.request.head.path},
                                                 {"name", call.parameter("operationId")},
                                                 {"status", goes_on ? "InProgress" : "Succeeded"}});
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

/// What `Location` points to: 202 until the end, then the result.
Result<io::Reply> operation_result(Call& call) {
  if (TRY(is_going_on(call))) {
    return begun(call, {.status = 202}, call.parameter("operationId"));
  }
  if (call.parameter("operationId") != kMake) return io::Reply{.status = 204};
  return json_reply(200, shown(call, *TRY(existing(call))));
}

// ---- Clusters ----------------------------------------------------------------------------------

Result<io::Reply> get(Call& call) { return json_reply(200, shown(call, *TRY(existing(call)))); }

Result<io::Reply> list(Call& call) {
  const std::size_t skip = static_cast<std::size_t>(TRY(continuation(call)));
  const std::size_t size = TRY(page_size(call));
  json::array values;
  std::string next;
  std::size_t index = 0;
  for (const auto& [key, compute] : call.services.ledger.state().computes) {
    if (key.workspace != call.workspace->id || index++ < skip) continue;
    if (values.size() == size) {
      next = next_link(call, static_cast<std::int64_t>(skip + size));
      break;
    }
    values.push_back(shown(call, compute));
  }
  return json_reply(200, arm::page(std::move(values), next));
}

Result<io::Reply> record(Call& call, Compute draft) {
  draft.key.workspace = call.workspace->id;
  const auto put = TRY(call.services.computes.put(std::move(draft)));
  io::Reply reply = json_reply(put.made ? 201 : 200, shown(call, put.compute));
  if (!put.notice.empty()) reply.headers.emplace_back("x-berth-notice", put.notice);
  return begun(call, std::move(reply), std::string(kMake));
}

/// What the body does not mention stays as it is, or is as the workspace has it.
Result<io::Reply> put(Call& call) {
  const std::string& name = call.parameter("computeName");
  const Compute* found = core::find_compute(call.services.ledger.state(), call.workspace->id, name);
  const bool is_change = found != nullptr && !model::is_built_in(*found);
  const Compute base =
      is_change ? *found : Compute{.name = name, .location = call.workspace->location};
  return record(call, TRY(arm::compute_from_json(TRY(json_body(call)), base)));
}

Result<io::Reply> patch(Call& call) {
  const Compute& base = *TRY(existing(call));
  TRY(core::check_may_change(base));
  return record(call, TRY(arm::compute_from_json(TRY(json_body(call)), base, true)));
}

/// Whether its jobs are to be cancelled.
Result<bool> cancels_jobs(const Call& call) {
  constexpr const char* kName = "underlyingResourceAction";
  const std::string action = call.query_value(kName);
  if (equals_ignoring_case(action, "Delete")) return true;
  if (equals_ignoring_case(action, "Detach")) return false;
  return fail(Code::InvalidArgument,
              fmt::format("{} must be Delete, which cancels its jobs, or Detach, which is refused "
                          "while there are any",
                          kName),
              kName);
}

Result<io::Reply> remove(Call& call) {
  const bool cancels = TRY(cancels_jobs(call));
  const Compute* found = core::find_compute(call.services.ledger.state(), call.workspace->id,
                                            call.parameter("computeName"));
  if (found == nullptr) return io::Reply{.status = 204};
  const std::string operation = delete_id(*found);
  const model::ComputeKey key = found->key;
  TRY(call.services.computes.remove(key, cancels));
  return begun(call, {.status = 202}, operation);
}

Result<io::Reply> list_nodes(Call& call) {
  const Compute& compute = *TRY(existing(call));
  if (cluster_in(&compute) == nullptr) {
    return fail(
        Code::InvalidArgument,
        fmt::format("only clusters have lists of nodes; '{}' is one machine", compute.name));
  }
  const auto skip = static_cast<std::size_t>(TRY(continuation(call)));
  const model::ClusterView view = core::view_of(call.services.ledger.state(), compute);
  const std::size_t end = std::min(view.nodes.size(), skip + kLargestPage);
  json::array nodes;
  for (std::size_t index = skip; index < end; ++index) {
    nodes.push_back(arm::to_json(view.nodes[index]));
  }
  json::object answer = {{"nodes", std::move(nodes)}};
  if (end < view.nodes.size()) {
    answer["nextLink"] = next_link(call, static_cast<std::int64_t>(end));
  }
  return json_reply(200, answer);
}

Result<io::Reply> refuse_power(Call& call) {
  const Compute& compute = *TRY(existing(call));
  const std::string why =
      cluster_in(&compute) != nullptr
          ? fmt::format("the cluster '{}' grows and shrinks with its work", compute.name)
          : fmt::format("'{}' is there as long as its machine", compute.name);
  return fail(Code::InvalidArgument,
              "only compute instances are started, stopped and restarted; " + why);
}

Result<io::Reply> refuse_keys(Call& call) {
  const Compute& compute = *TRY(existing(call));
  const std::string_view kind = cluster_in(&compute) != nullptr ? "cluster" : "compute";
  return fail(Code::InvalidArgument, fmt::format("the {} '{}' has no keys", kind, compute.name));
}

constexpr Permission allow(const char* action) { return {Permission::Kind::Action, action}; }

constexpr Permission kRead = allow("Microsoft.MachineLearningServices/workspaces/computes/read");
constexpr Permission kWrite = allow("Microsoft.MachineLearningServices/workspaces/computes/write");
constexpr Permission kRemove =
    allow("Microsoft.MachineLearningServices/workspaces/computes/delete");
constexpr Permission kListNodes =
    allow("Microsoft.MachineLearningServices/workspaces/computes/listNodes/action");
constexpr Permission kListKeys =
    allow("Microsoft.MachineLearningServices/workspaces/computes/listKeys/action");
constexpr Permission kStart =
    allow("Microsoft.MachineLearningServices/workspaces/computes/start/action");
constexpr Permission kStop =
    allow("Microsoft.MachineLearningServices/workspaces/computes/stop/action");
constexpr Permission kRestart =
    allow("Microsoft.MachineLearningServices/workspaces/computes/restart/action");

constexpr Route kRoutes[] = {
    {"GET", "W/computes", kRead, BodyKind::None, list},
    {"GET", "W/computes/{computeName}", kRead, BodyKind::None, get},
    {"PUT", "W/computes/{computeName}", kWrite, BodyKind::Json, put},
    {"PATCH", "W/computes/{computeName}", kWrite, BodyKind::Json, patch},
    {"DELETE", "W/computes/{computeName}", kRemove, BodyKind::None, remove},
    {"POST", "W/computes/{computeName}/listNodes", kListNodes, BodyKind::Json, list_nodes},
    {"GET", "W/computes/{computeName}/listNodes", kListNodes, BodyKind::None, list_nodes},
    {"POST", "W/computes/{computeName}/listKeys", kListKeys, BodyKind::Json, refuse_keys},
    {"POST", "W/computes/{computeName}/start", kStart, BodyKind::Json, refuse_power},
    {"POST", "W/computes/{computeName}/stop", kStop, BodyKind::Json, refuse_power},
    {"POST", "W/computes/{computeName}/restart", kRestart, BodyKind::Json, refuse_power},
    {"GET", "W/computes/{computeName}/operations/{operationId}", kRead, BodyKind::None,
     operation_status},
    {"GET", "W/computes/{computeName}/operationResults/{operationId}", kRead, BodyKind::None,
     operation_result},
};

}  // namespace

std::span<const Route> compute_routes() { return kRoutes; }

}  // namespace berth::server
