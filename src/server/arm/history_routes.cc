// SPDX-License-Identifier: Apache-2.0
// Run history: the second API of Azure ML, with which its Python client streams, downloads,
// archives and edits jobs.
#include "base/text.h"
#include "server/assets/log_blob.h"
#include "server/door/paging.h"
#include "server/door/route.h"
#include "server/fleet/log_store.h"
#include "server/keys/signer.h"
#include "server/plane/jobs_desk.h"
#include "wire/arm/resource.h"
#include "wire/arm/run.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;
using model::Job;

constexpr auto kLogAddressLifetime = std::chrono::hours(6);
constexpr auto kSettling = std::chrono::seconds(2);
constexpr const char* kLogName = "user_logs/std_log.txt";

/// The job of the address; some name its experiment too, which must then be the right one.
Result<Job> job_of(const Call& call) {
  Job job = TRY(call.services.jobs.find({call.workspace->id, call.parameter("name")}));
  const auto experiment = call.parameters.find("experiment");
  const bool is_there = experiment == call.parameters.end() ||
                        equals_ignoring_case(experiment->second, job.spec->experiment_name);
  if (is_there) return job;
  return fail(Code::NotFound,
              fmt::format("no job '{}' in experiment '{}'", job.key.name, experiment->second));
}

/// Signed for this one blob: the client fetches it without a token.
Result<json::object> log_files(const Call& call, const Job& job) {
  const store::BlobKey blob = log_blob(job.key);
  const bool is_stored = TRY(call.services.store.blob(blob)).has_value();
  if (!is_stored && !call.services.logs.open(job.key)) return json::object();
  const std::string signature =
      call.sign({.workspace = blob.workspace,
                 .container = blob.container,
                 .prefix = blob.path,
                 .permissions = "r",
                 .expires_at = call.services.clock.now().wall + kLogAddressLifetime});
  return json::object{
      {kLogName, fmt::format("{}/blob/{}/{}/{}?{}", call.base_url(), blob.workspace.text,
                             blob.container, percent_encode(blob.path, true), signature)}};
}

json::object shown(const Call& call, const Job& job) {
  const std::string_view client = io::header(call.request.head.headers, "User-Agent");
  return arm::run_json(job, arm::spelling_for(client));
}

Result<io::Reply> get(Call& call) { return json_reply(200, shown(call, TRY(job_of(call)))); }

/// The client that streams prints the log of a run only if it has once seen it going on. A job that
/// was over before it first looked goes on for a moment more, here and nowhere else.
bool is_settling(const Call& call, const Job& job) {
  return job.ended_at && call.services.clock.now().wall - *job.ended_at < kSettling;
}

Result<io::Reply> details(Call& call) {
  const Job job = TRY(job_of(call));
  json::object run = shown(call, job);
  if (is_settling(call, job)) run["status"] = "Finalizing";
  run["logFiles"] = TRY(log_files(call, job));
  return json_reply(200, run);
}

Result<io::Reply> run_data(Call& call) {
  const json::value body = TRY(json_body(call));
  const json::value* id = body.get_object().if_contains("runId");
  if (id == nullptr || !id->is_string()) {
    return fail(Code::InvalidArgument, "expected the name of a job", "runId");
  }
  const Job job = TRY(call.services.jobs.find({call.workspace->id, std::string(id->get_string())}));
  return json_reply(200, {{"runMetadata", shown(call, job)}});
}

/// Jobs that name this one as their parent, newest first.
Result<io::Reply> children(Call& call) {
  TRY(job_of(call));
  store::JobQuery query{.workspace = call.workspace->id,
                        .view = store::JobQuery::View::All,
                        .parent = call.parameter("name")};
  const std::size_t size = TRY(page_size(call));
  query.limit = size + 1;  // One more tells whether there is another page.
  if (const std::int64_t before = TRY(continuation(call)); before > 0) query.before = before;
  store::Page<Job> jobs = TRY(call.services.store.jobs(query));
  const bool has_more = take_page(jobs, size);
  json::array values;
  for (const Job& job : jobs) values.push_back(shown(call, job));
  return json_reply(
      200, arm::page(std::move(values), has_more ? next_link(call, jobs.back().sequence) : ""));
}

/// Interactive services of a node of the job: none are offered yet.
Result<io::Reply> service_instances(Call& call) {
  TRY(job_of(call));
  return json_reply(200, {{"instances", json::object()}});
}

/// What people may change about a job at any time. The work it does stays as it is.
Result<io::Reply> patch(Call& call) {
  const arm::RunChanges changes = TRY(arm::run_changes_from_json(TRY(json_body(call))));
  Job job = TRY(job_of(call));
  if (changes.display_name) job.display_name = *changes.display_name;
  if (changes.description) job.description = *changes.description;
  if (changes.is_archived) job.is_archived = *changes.is_archived;
  for (const auto& [name, value] : changes.tags) job.tags[name] = value;
  for (const auto& [name, value] : changes.properties) job.properties[name] = value;
  return json_reply(200, shown(call, TRY(call.services.jobs.submit(std::move(job))).job));
}

constexpr Permission kRead = {Permission::Kind::Action,
                              "Microsoft.MachineLearningServices/workspaces/jobs/read"};
constexpr Permission kWrite = {Permission::Kind::Action,
                               "Microsoft.MachineLearningServices/workspaces/jobs/write"};

constexpr Permission kReadOne = {.action = kRead.action, .is_for_own_job = true};

constexpr const char* kRun = "/history/v1.0/W/runs/{name}";
constexpr const char* kRunOfExperiment = "/history/v1.0/W/experiments/{experiment}/runs/{name}";

constexpr Route kRoutes[] = {
    {"GET", kRun, kReadOne, BodyKind::None, get},
    {"PATCH", kRun, kWrite, BodyKind::Json, patch},
    {"GET", "/history/v1.0/W/runs/{name}/details", kReadOne, BodyKind::None, details},
    {"GET", "/history/v1.0/W/runs/{name}/children", kRead, BodyKind::None, children},
    {"GET", "/history/v1.0/W/runs/{name}/serviceinstances/{node}", kRead, BodyKind::None,
     service_instances},
    {"GET", kRunOfExperiment, kReadOne, BodyKind::None, get},
    {"PATCH", kRunOfExperiment, kWrite, BodyKind::Json, patch},
    {"GET", "/history/v1.0/W/experiments/{experiment}/runs/{name}/details", kReadOne,
     BodyKind::None, details},
    {"POST", "/history/v1.0/W/rundata", kRead, BodyKind::Json, run_data},
};

}  // namespace

std::span<const Route> history_routes() { return kRoutes; }

}  // namespace berth::server
