// SPDX-License-Identifier: Apache-2.0
// /berth/v1: services of a workspace, and the way to each. A service is a job that is not meant to
// end: its logs and its history are the job's.
#include "model/assets/reference_scope.h"
#include "server/door/relay.h"
#include "server/door/route.h"
#include "server/fleet/service_gate.h"
#include "server/plane/jobs_desk.h"
#include "server/plane/ledger.h"
#include "wire/arm/resource.h"
#include "wire/service.h"

namespace berth::server {
namespace {

namespace json = boost::json;
using model::Job;
using model::JobKey;

JobKey service_key(const Call& call) { return {call.workspace->id, call.parameter("service")}; }

json::object shown(const Call& call, const Job& service) {
  return wire::to_json(service, fmt::format("{}/berth/v1{}/services/{}/", call.base_url(),
                                            model::arm_id(*call.workspace), service.key.name));
}

Result<Job> find_service(const Call& call) {
  Result<Job> job = call.services.jobs.find(service_key(call));
  const bool is_there = job || job.error().code != Code::NotFound;
  if (is_there && (!job || model::service_of(job->spec) != nullptr)) return job;
  return fail(Code::NotFound,
              fmt::format("no service '{}' in this workspace", call.parameter("service")));
}

Result<io::Reply> put(Call& call) {
  Job draft = TRY(wire::service_from_json(TRY(json_body(call))));
  draft.key = service_key(call);
  draft.created_by = call.principal.name;
  draft.created_by_user = call.principal.user;
  const auto submitted = TRY(call.services.jobs.submit(std::move(draft)));
  return json_reply(submitted.made ? 201 : 200, shown(call, submitted.job));
}

Result<io::Reply> get(Call& call) {
  const Job service = TRY(find_service(call));
  json::object object = shown(call, service);
  object["explain"] = TRY(call.services.jobs.explain(service.key));
  return json_reply(200, object);
}

/// Those that are not over. What is, is among the jobs.
Result<io::Reply> list(Call& call) {
  json::array values;
  const auto& jobs = call.services.ledger.state().jobs;
  const model::WorkspaceId& here = call.workspace->id;
  for (auto job = jobs.lower_bound({here, ""}); job != jobs.end() && job->first.workspace == here;
       ++job) {
    const bool is_live =
        model::service_of(job->second.spec) != nullptr && !model::is_terminal(job->second.status);
    if (is_live) values.push_back(shown(call, job->second));
  }
  return json_reply(200, wire::arm::page(std::move(values)));
}

Result<io::Reply> stop(Call& call) {
  const Result<Job> service = find_service(call);
  if (!service && service.error().code == Code::NotFound) return io::Reply{.status = 204};
  TRY(service);
  return json_reply(202, shown(call, TRY(call.services.jobs.cancel(service->key))));
}

Result<io::Admission> relay(Call& call) {
  return io::Relay{.plan = relay_to(TRY(call.services.gate->way_to(service_key(call))), call)};
}

constexpr Permission allow(const char* action) { return {Permission::Kind::Action, action}; }

constexpr Permission kRead = allow("Microsoft.MachineLearningServices/workspaces/jobs/read");
constexpr Permission kWrite = allow("Microsoft.MachineLearningServices/workspaces/jobs/write");
constexpr Permission kStop = allow("Microsoft.MachineLearningServices/workspaces/jobs/delete");
/// Whatever the service does with it: so reading jobs is not enough, and running them is.
constexpr Permission kConnect = allow("Berth/services/connect/action");

constexpr Route kRoutes[] = {
    {"GET", "/berth/v1/W/services", kRead, BodyKind::None, list},
    {"GET", "/berth/v1/W/services/{service}", kRead, BodyKind::None, get},
    {"PUT", "/berth/v1/W/services/{service}", kWrite, BodyKind::Json, put},
    {"DELETE", "/berth/v1/W/services/{service}", kStop, BodyKind::None, stop},
    {"*", "/berth/v1/W/services/{service}/{path...}", kConnect, BodyKind::None, nullptr, relay},
};

}  // namespace

std::span<const Route> service_routes() { return kRoutes; }

}  // namespace berth::server
