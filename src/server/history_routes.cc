// SPDX-License-Identifier: Apache-2.0
// Run history: the second API of Azure ML, from which its Python client streams and downloads.
#include "base/text.h"
#include "server/control_plane.h"
#include "server/log_store.h"
#include "server/route.h"
#include "server/signer.h"

namespace berth::server {
namespace {

namespace json = boost::json;
using model::Job;

constexpr auto kLogAddressLifetime = std::chrono::hours(6);
constexpr const char* kLogName = "user_logs/std_log.txt";

json::value time_or_null(const std::optional<WallTime>& time) {
  return time ? json::value(to_iso8601(*time)) : json::value(nullptr);
}

json::object to_object(const std::map<std::string, std::string>& map) {
  json::object object;
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

json::value error_of(const Job& job) {
  if (!job.error) return nullptr;
  return {{"error", {{"code", job.error->code}, {"message", job.error->message}}}};
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

json::object run_of(const Job& job) {
  return {{"runId", job.key.name},
          {"rootRunId", job.key.name},
          {"parentRunId", job.spec.parent_job_name.empty() ? json::value(nullptr)
                                                           : json::value(job.spec.parent_job_name)},
          {"status", boost::describe::enum_to_string(job.status, "Unknown")},
          {"createdUtc", to_iso8601(job.created_at)},
          {"startTimeUtc", time_or_null(job.started_at)},
          {"endTimeUtc", time_or_null(job.ended_at)},
          {"target", job.spec.compute},
          {"properties", to_object(job.properties)},
          {"error", error_of(job)}};
}

Result<io::Reply> details(Call& call) {
  const Job job = TRY(call.services.plane.job({call.workspace->id, call.parameter("name")}));
  json::object run = run_of(job);
  json::array warnings;
  for (const std::string& warning : job.warnings) {
    warnings.push_back({{"source", "Berth"}, {"message", warning}});
  }
  run["warnings"] = std::move(warnings);
  run["logFiles"] = TRY(log_files(call, job));
  run["inputDatasets"] = json::array();
  run["outputDatasets"] = json::array();
  run["services"] = json::object();
  return json_reply(200, run);
}

Result<io::Reply> run_data(Call& call) {
  const json::value body = TRY(json_body(call));
  const json::value* id = body.get_object().if_contains("runId");
  if (id == nullptr || !id->is_string()) {
    return fail(Code::InvalidArgument, "expected the name of a job", "runId");
  }
  const Job job = TRY(call.services.plane.job({call.workspace->id, std::string(id->get_string())}));
  json::object run = run_of(job);
  run["displayName"] = job.display_name;
  run["description"] = job.description;
  run["tags"] = to_object(job.tags);
  run["runType"] = "azureml.scriptrun";
  run["dataContainerId"] = "dcid." + job.key.name;
  run["inputs"] = json::object();
  run["outputs"] = json::object();
  return json_reply(200, {{"runMetadata", std::move(run)}});
}

constexpr Permission kRead = {Permission::Kind::Action,
                              "Microsoft.MachineLearningServices/workspaces/jobs/read"};

constexpr Permission kReadOne = {.action = kRead.action, .is_for_own_job = true};

constexpr Route kRoutes[] = {
    {"GET", "/history/v1.0/W/runs/{name}/details", kReadOne, BodyKind::None, details},
    {"POST", "/history/v1.0/W/rundata", kRead, BodyKind::Json, run_data},
};

}  // namespace

std::span<const Route> history_routes() { return kRoutes; }

}  // namespace berth::server
