// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "model/assets/reference_scope.h"
#include "server/arm/shown_jobs.h"
#include "server/door/paging.h"
#include "server/door/route.h"
#include "server/plane/jobs_desk.h"
#include "server/storage/storage_keeper.h"
#include "wire/arm/resource.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;
using model::Job;
using model::JobKey;

constexpr const char* kReadSecrets =
    "Microsoft.MachineLearningServices/workspaces/environments/readSecrets/action";

JobKey key_of(const Call& call) { return {call.workspace->id, call.parameter("name")}; }

/// People put keys into variables. Whoever may not read secrets sees the names only.
void hide_values(json::object& resource) {
  json::value* variables =
      resource.at("properties").as_object().if_contains("environmentVariables");
  if (variables == nullptr || !variables->is_object()) return;
  for (auto& variable : variables->get_object()) variable.value() = "(hidden)";
}

bool may_see_values(const Call& call) {
  const bool is_itself = call.principal.kind == Principal::Kind::Job;
  return is_itself || call.may(kReadSecrets, call.workspace->id);
}

json::object shown(const Job& job, const model::Workspace& workspace,
                   const ShownJobs::Manner& manner) {
  json::object resource = arm::to_json(job, workspace, {.base_url = manner.base_url});
  if (!manner.has_values) hide_values(resource);
  return resource;
}

ShownJobs::Manner manner_of(const Call& call) {
  return {.workspace = call.workspace->id,
          .base_url = call.base_url(),
          .has_values = may_see_values(call)};
}

json::object shown(const Call& call, const Job& job) {
  return shown(job, *call.workspace, manner_of(call));
}

Result<io::Reply> get(Call& call) {
  call.is_recorded = true;
  return json_reply(200, shown(call, TRY(call.services.jobs.find_recorded(key_of(call)))));
}

/// A job keeps the name of its compute only, which may be another's in the workspace that was
/// meant.
Status check_compute(const Call& call, const json::value& body) {
  const json::value* id = body.at("properties").as_object().if_contains("computeId");
  if (id == nullptr || !id->is_string()) return Done{};
  const Status ours = model::check_workspace(*call.workspace, id->get_string());
  if (ours) return Done{};
  return fail(ours.error().code, "compute: " + ours.error().message, "properties.computeId");
}

Result<io::Reply> put(Call& call) {
  const json::value body = TRY(json_body(call));
  Job draft = TRY(arm::job_from_json(body));
  TRY(check_compute(call, body));
  draft.key = key_of(call);
  draft.created_by = call.principal.name;
  draft.created_by_user = call.principal.user;
  const auto submitted = TRY(call.services.jobs.submit(std::move(draft)));
  return json_reply(submitted.made ? 201 : 200, shown(call, submitted.job));
}

/// The kind of work that ARM calls a job of this type, whatever case the client used.
std::string kind_of_type(const std::string& asked) {
  if (equals_ignoring_case(asked, "Pipeline")) return std::string(model::ArrayWork::kKind);
  for (const char* type : {"Command", "Sweep", "AutoML", "Spark"}) {
    if (equals_ignoring_case(asked, type)) return type;
  }
  return asked;
}

Result<store::JobQuery> query_of(const Call& call) {
  store::JobQuery query{.workspace = call.workspace->id,
                        .type = kind_of_type(call.query_value("jobType")),
                        .experiment = call.query_value("experimentName"),
                        .parent = call.query_value("parentJobName")};
  query.view = TRY(list_view(call));
  query.limit = TRY(page_size(call));
  const std::string tag = call.query_value("tag");
  const std::size_t equals = tag.find('=');
  query.tag_key = tag.substr(0, equals);
  if (equals != std::string::npos) query.tag_value = tag.substr(equals + 1);
  const std::int64_t before = TRY(continuation(call));
  if (before > 0) query.before = before;
  return query;
}

Result<io::Reply> list(Call& call) {
  call.is_recorded = true;  // Lists of the store are.
  store::JobQuery query = TRY(query_of(call));
  const std::size_t size = query.limit++;  // One more tells whether there is another page.
  store::Page<store::JobRow> rows = TRY(call.services.store.job_rows(query));
  const bool has_more = take_page(rows, size);
  const ShownJobs::Manner manner = manner_of(call);
  const std::string values = TRY(call.services.shown_jobs->list(
      manner, rows, [&](const Job& job) { return shown(job, *call.workspace, manner); }));
  std::string body = "{\"value\":[" + values + "]";
  if (has_more) {
    body += ",\"nextLink\":" + json::serialize(json::value(next_link(call, rows.back().sequence)));
  }
  return io::Reply{.status = 200, .body = body + "}"};
}

/// A long-running operation, as far as clients can tell: the address they poll says Succeeded at
/// once, because the request to cancel is recorded before this answer leaves.
Result<io::Reply> cancel(Call& call) {
  TRY(call.services.jobs.cancel(key_of(call)));
  const std::string status =
      fmt::format("{}{}/operationStatuses/{}?api-version=2024-04-01", call.base_url(),
                  model::arm_id(*call.workspace), call.parameter("name"));
  // Retry-After: 0 would mean "no wish" to Python, which then waits 30 seconds.
  return io::Reply{
      .status = 202,
      .headers = {{"Location", status}, {"Azure-AsyncOperation", status}, {"Retry-After", "1"}}};
}

Result<io::Reply> operation_status(Call& call) {
  io::Reply reply = json_reply(
      200, json::object{{"name", call.parameter("operationId")}, {"status", "Succeeded"}});
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

Result<io::Reply> gone(const Status& deleted) {
  if (!deleted && deleted.error().code != Code::NotFound) return fail(deleted.error());
  return io::Reply{.status = 204};
}

/// With all it left, which may be a great deal: the answer comes when the last of it is gone.
Result<io::Reply> remove(Call& call) {
  const bool can_wait = call.services.storage != nullptr;
  if (!can_wait) return gone(call.services.jobs.remove(key_of(call)));
  const Status begun = call.services.storage->delete_job(
      key_of(call), [respond = call.respond](const Status& deleted) { respond(gone(deleted)); });
  if (!begun) return gone(begun);
  return later();
}

constexpr Permission allow(const char* action) { return {Permission::Kind::Action, action}; }

constexpr Permission kRead = allow("Microsoft.MachineLearningServices/workspaces/jobs/read");
constexpr Permission kReadOne = {.action = kRead.action, .is_for_own_job = true};
constexpr Permission kWrite = allow("Microsoft.MachineLearningServices/workspaces/jobs/write");
constexpr Permission kDelete = allow("Microsoft.MachineLearningServices/workspaces/jobs/delete");
constexpr Permission kCancel =
    allow("Microsoft.MachineLearningServices/workspaces/jobs/cancel/action");

constexpr Route kRoutes[] = {
    {"GET", "W/jobs", kRead, BodyKind::None, list},
    {"GET", "W/jobs/{name}", kReadOne, BodyKind::None, get},
    {"PUT", "W/jobs/{name}", kWrite, BodyKind::Json, put},
    {"DELETE", "W/jobs/{name}", kDelete, BodyKind::None, remove},
    {"POST", "W/jobs/{name}/cancel", kCancel, BodyKind::Json, cancel},
    {"GET", "W/operationStatuses/{operationId}", kRead, BodyKind::None, operation_status},
};

}  // namespace

std::span<const Route> job_routes() { return kRoutes; }

}  // namespace berth::server
