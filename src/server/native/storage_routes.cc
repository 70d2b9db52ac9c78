// SPDX-License-Identifier: Apache-2.0
// What is kept, for how long, and what could go. Deleting a job is ARM's own route (job_routes.cc).
#include "base/text.h"
#include "server/door/paging.h"
#include "server/door/route.h"
#include "server/plane/ledger.h"
#include "server/plane/workspaces_desk.h"
#include "server/storage/storage_keeper.h"

namespace berth::server {
namespace {

namespace json = boost::json;
using model::Job;
using model::Retention;
using std::chrono::seconds;

constexpr std::size_t kJobsOfPage = 100;
constexpr std::size_t kMostNames = 200;

Result<StorageKeeper*> keeper(const Call& call) {
  if (call.services.storage != nullptr) return call.services.storage;
  return fail(Code::Unavailable, "nothing is kept here");
}

Result<io::Reply> answer_with_report(const Call& call, Workspaces workspaces, bool is_whole) {
  TRY(keeper(call))
      ->report(std::move(workspaces), is_whole,
               [respond = call.respond](const Result<json::object>& report) {
                 if (!report) return respond(fail(report.error()));
                 respond(json_reply(200, *report));
               });
  return later();
}

Result<io::Reply> show_all(Call& call) {
  call.is_recorded = true;
  return answer_with_report(call, call.services.ledger.state().workspaces, true);
}

Result<io::Reply> show_workspace(Call& call) {
  call.is_recorded = true;
  return answer_with_report(call, {{call.workspace->id, *call.workspace}}, false);
}

// ---- Jobs ---------------------------------------------------------------------------------------

Result<model::JobStatus> status_of(std::string_view text) {
  for (const model::JobStatus status :
       {model::JobStatus::Completed, model::JobStatus::Failed, model::JobStatus::Canceled}) {
    if (equals_ignoring_case(text, boost::describe::enum_to_string(status, ""))) return status;
  }
  return fail(Code::InvalidArgument,
              fmt::format("'{}' is not a status of jobs that are over: Completed, Failed, Canceled",
                          to_valid_utf8(text)),
              "status");
}

Result<store::JobSelection> selection_of(const Call& call) {
  store::JobSelection selection{.workspace = call.workspace->id,
                                .experiment = call.query_value("experiment"),
                                .limit = kJobsOfPage};
  for (const auto& [key, value] : call.query) {
    if (equals_ignoring_case(key, "name")) selection.names.push_back(value);
    if (equals_ignoring_case(key, "status")) selection.statuses.push_back(TRY(status_of(value)));
  }
  if (selection.names.size() > kMostNames) {
    return fail(Code::InvalidArgument, fmt::format("at most {} names at once", kMostNames), "name");
  }
  const std::string before = call.query_value("endedBefore");
  if (!before.empty()) {
    const Result<WallTime> time = wall_time_from_iso8601(before);
    if (!time) {
      return fail(Code::InvalidArgument,
                  "'endedBefore' must be a time such as 2026-11-16T00:45:12Z", "endedBefore");
    }
    selection.ended_before = *time;
  }
  const std::string tag = call.query_value("tag");
  const std::size_t equals = tag.find('=');
  selection.tag_key = tag.substr(0, equals);
  if (equals != std::string::npos) selection.tag_value = tag.substr(equals + 1);
  selection.after = static_cast<std::int64_t>(TRY(count_of(call, "after")));
  return selection;
}

json::object shown(const Job& job, const store::JobFootprint& footprint) {
  json::array kept_by;
  for (const std::string& by : footprint.kept_by) kept_by.push_back(json::value(by));
  const bool has_tag = job.tags.contains(model::kKeepTag);
  return {{"name", job.key.name},
          {"display_name", job.display_name},
          {"status", boost::describe::enum_to_string(job.status, "Unknown")},
          {"ended_at", to_iso8601(job.ended_at.value_or(job.modified_at))},
          {"files", footprint.files},
          {"log_bytes", footprint.log_bytes},
          {"bytes", footprint.log_bytes + footprint.other_bytes},
          {"kept_bytes", footprint.kept_bytes},
          {"kept_by", std::move(kept_by)},
          {"metric_points", footprint.metric_points},
          {"is_tagged_to_keep", has_tag && job.tags.at(model::kKeepTag) != "false"}};
}

Result<json::array> sizes_of(store::StorageReader& reader, const std::vector<Job>& jobs) {
  json::array shown_jobs;
  for (const Job& job : jobs) shown_jobs.push_back(shown(job, TRY(reader.footprint(job.key))));
  return shown_jobs;
}

/// Jobs that are over, oldest first, with what would go with each. A page may be empty and have a
/// next one: it has looked at many jobs that do not fit.
Result<io::Reply> list_jobs(Call& call) {
  call.is_recorded = true;
  const store::JobSelection selection = TRY(selection_of(call));
  TRY(keeper(call))
      ->inspect([selection,
                 respond = call.respond](store::StorageReader& reader) -> std::function<void()> {
        const auto read = [&]() -> Result<json::object> {
          const store::SelectedJobs found = TRY(reader.jobs(selection));
          json::object page{{"value", TRY(sizes_of(reader, found.jobs))}, {"next", nullptr}};
          if (found.next) page["next"] = *found.next;
          return page;
        };
        Result<json::object> page = read();
        return [page = std::move(page), respond] {
          if (!page) return respond(fail(page.error()));
          respond(json_reply(200, *page));
        };
      });
  return later();
}

// ---- Rules --------------------------------------------------------------------------------------

json::value to_json(const std::optional<seconds>& time) {
  return time ? json::value(time->count()) : json::value(nullptr);
}

json::object to_json(const Retention& retention) {
  return {{"keepJobsSeconds", to_json(retention.keep_jobs)},
          {"keepFailedSeconds", to_json(retention.keep_failed)},
          {"keepLogsSeconds", to_json(retention.keep_logs)}};
}

Result<io::Reply> get_retention(Call& call) {
  return json_reply(200, to_json(call.workspace->retention));
}

/// Only what the body mentions changes; null takes a rule away.
Result<io::Reply> patch_retention(Call& call) {
  const json::value body = TRY(json_body(call));
  Retention retention = call.workspace->retention;
  const std::pair<const char*, std::optional<seconds>*> rules[] = {
      {"keepJobsSeconds", &retention.keep_jobs},
      {"keepFailedSeconds", &retention.keep_failed},
      {"keepLogsSeconds", &retention.keep_logs}};
  for (const auto& [key, rule] : rules) {
    const json::value* given = body.get_object().if_contains(key);
    if (given == nullptr) continue;
    if (given->is_null()) {
      rule->reset();
    } else if (given->is_int64()) {
      *rule = seconds(given->get_int64());
    } else {
      return fail(Code::InvalidArgument, fmt::format("'{}' must be a number of seconds", key), key);
    }
  }
  const auto stored = TRY(call.services.workspaces.set_retention(call.workspace->id, retention));
  if (call.services.storage != nullptr) call.services.storage->retention_changed();
  return json_reply(200, to_json(stored.retention));
}

// ---- Sweeps -------------------------------------------------------------------------------------

json::object to_json(const SweepReport& report) {
  return {{"dry_run", report.is_trial},          {"held", report.is_held},
          {"objects", report.objects},           {"bytes", report.bytes},
          {"kept_objects", report.kept_objects}, {"code_versions", report.code_versions},
          {"uploads", report.uploads},           {"unfinished_uploads", report.stale_uploads},
          {"leftovers", report.leftovers}};
}

Result<io::Reply> answer_with_sweep(const Call& call, bool is_trial) {
  TRY(keeper(call))->sweep(is_trial, [respond = call.respond](const Result<SweepReport>& report) {
    if (!report) return respond(fail(report.error()));
    respond(json_reply(200, to_json(*report)));
  });
  return later();
}

/// What a sweep would take away.
Result<io::Reply> try_sweep(Call& call) { return answer_with_sweep(call, true); }
Result<io::Reply> sweep(Call& call) { return answer_with_sweep(call, false); }

constexpr Permission allow(const char* action) { return {Permission::Kind::Action, action}; }

constexpr Permission kRead = allow("Berth/storage/read");
constexpr Permission kSweep = allow("Berth/storage/sweep/action");
constexpr Permission kReadJobs = allow("Microsoft.MachineLearningServices/workspaces/jobs/read");
constexpr Permission kReadRules = allow("Microsoft.MachineLearningServices/workspaces/read");
constexpr Permission kWriteRules = allow("Microsoft.MachineLearningServices/workspaces/write");

constexpr Route kRoutes[] = {
    {"GET", "/berth/v1/storage", kRead, BodyKind::None, show_all},
    {"GET", "/berth/v1/storage/sweep", kRead, BodyKind::None, try_sweep},
    {"POST", "/berth/v1/storage/sweep", kSweep, BodyKind::Json, sweep},
    {"GET", "/berth/v1/W/storage", kRead, BodyKind::None, show_workspace},
    {"GET", "/berth/v1/W/storage/jobs", kReadJobs, BodyKind::None, list_jobs},
    {"GET", "/berth/v1/W/storage/retention", kReadRules, BodyKind::None, get_retention},
    {"PATCH", "/berth/v1/W/storage/retention", kWriteRules, BodyKind::Json, patch_retention},
};

}  // namespace

std::span<const Route> storage_routes() { return kRoutes; }

}  // namespace berth::server
